/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What image a name stands for, without asking Docker at each turn.
 *
 * Docker's own events say that some image was made, named or removed (GET /events, one connection that is
 * kept). Whatever one says, nothing that was known before holds any more, and the next question goes to
 * Docker again. Docker sends the event before it answers whoever caused it. While there is no such
 * connection, nothing is remembered at all.
 */
#pragma once

#include "container/engine.h"

typedef struct _SbxImageWatch SbxImageWatch;

/* changed: what was known does not hold any more; may be NULL. Nothing is connected yet. */
SbxImageWatch *
sbx_image_watch_new (SbxEngine *engine, void (*changed) (gpointer user_data), gpointer user_data);
/* Callers that wait still get their answer. NULL is fine. */
void sbx_image_watch_free (SbxImageWatch *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxImageWatch, sbx_image_watch_free)

/* Asks for it already, so that the first who needs it finds it remembered. */
void sbx_image_watch_start (SbxImageWatch *self, const char *name);

/* The image of that name, remembered or asked for. Errors are sbx_engine_image_inspect_async()'s. */
void sbx_image_watch_ask_async (SbxImageWatch *self, const char *name, GCancellable *cancellable,
                                GAsyncReadyCallback callback, gpointer user_data);
SbxImage *sbx_image_watch_ask_finish (GAsyncResult *result, GError **error);

/* The same where it is remembered, else NULL. Borrowed until the next change. */
const SbxImage *sbx_image_watch_known (SbxImageWatch *self, const char *name);

/* How often Docker hung up on a connection for events: how often it has ended, as far as that was seen. */
guint sbx_image_watch_n_lost (const SbxImageWatch *self);
