/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One request and its answer on a Unix socket: connects, asks, reads, closes; or on a connection of the pool,
 * which gets it back. Used inside this room only.
 *
 * A pool's connection may end just when it is used again, with the question unread. A question that may be
 * asked twice is then asked once more, on a new connection.
 *
 * Errors: SBX_ENGINE_ERROR_DOWN, SBX_ENGINE_ERROR_ANSWER, G_IO_ERROR_CANCELLED.
 */
#pragma once

#include "container/engine.h"
#include "container/http-pool.h"

typedef struct {
  const char *socket_path;
  const char *method;
  const char *path;
  const char *content_type; /* NULL: no body */
  GBytes *body;             /* either this … */
  GInputStream *stream;     /* … or this, sent in chunks */
  guint timeout_ms;         /* for all of it; 0: no limit */
  SbxHttpPool *pool;        /* must outlive the call; NULL, or with a stream: a connection of its own */
  gboolean repeatable;
} SbxHttpRequest;

/* request and what it points to need not outlive the call. */
void sbx_http_call_async (const SbxHttpRequest *request, GCancellable *cancellable,
                          GAsyncReadyCallback callback, gpointer user_data);
/* The body, with its status; NULL with error set. */
GBytes *sbx_http_call_finish (GAsyncResult *result, guint *ret_status, GError **error);
