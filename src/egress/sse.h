/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Server-sent events as Streamable HTTP of MCP uses them: a stream that carries JSON-RPC messages, of which
 * one is the response that is waited for. Pure and fed in pieces; the caller bounds the bytes.
 */
#pragma once

#include <glib.h>

typedef struct _SbxSse SbxSse;

/* data: the data lines of one event, joined. Return FALSE to stop: the rest of the stream is not looked at.
 */
typedef gboolean (*SbxSseEvent) (const char *data, gsize n_bytes, gpointer user_data);

SbxSse *sbx_sse_new (SbxSseEvent event, gpointer user_data);
void sbx_sse_free (SbxSse *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSse, sbx_sse_free)

/* Lines end in LF, CR or CRLF; comments, ids, names and retry times are passed over; an event without data (a
 * priming event) is none. FALSE once the handler has stopped it. */
gboolean sbx_sse_feed (SbxSse *self, const char *data, gsize n_bytes);
