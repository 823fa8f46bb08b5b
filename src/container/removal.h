/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Removing a container until it is gone: the one way that turns, sweeps and sandbox-cleanup do it.
 *
 * DELETE with force; "no such container" is success; "removal in progress" (another hand, or dockerd still at
 * work) is waited out by asking until it is gone. Three tries, each limited to SBX_REMOVAL_TRY_MS, 100 and
 * 200 ms between (doc/protocol.md 4). After that the caller backs off and comes again; nothing is remembered
 * here.
 *
 * End the broker that reads the container's output first: dockerd blocks on one that does not read.
 */
#pragma once

#include "container/engine.h"

#define SBX_REMOVAL_TRIES  3u
#define SBX_REMOVAL_TRY_MS 5000u

/* Errors: SBX_ENGINE_ERROR of the last try, or G_IO_ERROR_CANCELLED. */
void sbx_removal_async (SbxEngine *engine, const char *id, GCancellable *cancellable,
                        GAsyncReadyCallback callback, gpointer user_data);
gboolean sbx_removal_finish (GAsyncResult *result, GError **error);
