/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The stream of a container's standard input and output, as a plain descriptor.
 *
 * Order of a turn: open (the container is created, not started), start, pass the descriptor to the
 * broker, write the turn, end the input, close our copy. Not one byte that the container wrote is read here:
 * the head of dockerd's answer is taken off the socket exactly, the rest waits for the broker.
 */
#pragma once

#include "container/engine.h"

/* POST …/attach with an upgrade. timeout_ms 0: SBX_ENGINE_DEFAULT_TIMEOUT_MS. */
void sbx_attach_open_async (SbxEngine *engine, const char *id, guint timeout_ms, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data);
/* A connected, non-blocking, close-on-exec descriptor that is the caller's; -1 with error set
 * (SBX_ENGINE_ERROR). */
int sbx_attach_open_finish (GAsyncResult *result, GError **error);

/* Writes turn and, with end_input, ends the container's standard input behind it. fd is duplicated: the
 * caller may close or pass its own at any time. A worker that does not read makes this fail with
 * G_IO_ERROR_TIMED_OUT after timeout_ms (0: 10 s); one that is gone, with G_IO_ERROR_BROKEN_PIPE. */
void sbx_attach_write_async (int fd, GBytes *turn, gboolean end_input, guint timeout_ms,
                             GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean sbx_attach_write_finish (GAsyncResult *result, GError **error);

/* Ends the container's standard input: dockerd takes SHUT_WR for that. It acts on every copy of the socket,
 * and reading goes on. */
void sbx_attach_end_input (int fd);
