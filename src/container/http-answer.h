/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Reads one HTTP/1.1 answer of a trusted peer, piece by piece. Pure: no I/O.
 *
 * It knows what dockerd sends: a status line, headers, and a body by length, in chunks, or to the end of the
 * connection; interim answers are passed over, 101 ends at its head. dockerd is trusted, so this reader is no
 * gate against smuggling (the broker's is); it is bounded all the same, and an answer that was cut short is
 * never taken for a whole one.
 */
#pragma once

#include <glib.h>

#define SBX_HTTP_MAX_HEAD 16384u

typedef enum {
  SBX_HTTP_MORE, /* not whole yet */
  SBX_HTTP_DONE, /* whole; what follows was not looked at */
  SBX_HTTP_BAD,  /* not HTTP, or over a bound */
} SbxHttpVerdict;

typedef struct _SbxHttpAnswer SbxHttpAnswer;

SbxHttpAnswer *sbx_http_answer_new (gsize max_body);
void sbx_http_answer_free (SbxHttpAnswer *self);

/* Takes the next bytes. *ret_used is how many of them belong to the answer. After DONE or BAD: not again. */
SbxHttpVerdict sbx_http_answer_feed (SbxHttpAnswer *self, const char *data, gsize n_bytes, gsize *ret_used);

/* The connection ended: DONE for a body without length whose head is whole, BAD otherwise. */
SbxHttpVerdict sbx_http_answer_end (SbxHttpAnswer *self);

/* Of a whole one: whether the connection is good for another question. */
gboolean sbx_http_answer_keeps_connection (SbxHttpAnswer *self);

guint sbx_http_answer_status (SbxHttpAnswer *self);
/* The body. */
GBytes *sbx_http_answer_steal_body (SbxHttpAnswer *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxHttpAnswer, sbx_http_answer_free)
