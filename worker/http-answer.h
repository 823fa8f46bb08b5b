/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* An HTTP answer as its bytes arrive. Pure. */
#pragma once

#include <glib.h>

#define SBX_HTTP_ANSWER_MAX_HEAD_BYTES 16384u

typedef enum {
  SBX_HTTP_ANSWER_MORE, /* not whole yet */
  SBX_HTTP_ANSWER_DONE,
  SBX_HTTP_ANSWER_BAD, /* not HTTP, cut short, or over the bound */
} SbxHttpAnswerVerdict;

/* data is all that came so far; at_end, whether the peer has closed. On DONE, *ret_status is the status and
 * *ret_body the body, of at most max_body_bytes, new to the caller. */
SbxHttpAnswerVerdict sbx_http_answer_read (const GByteArray *data, gboolean at_end, gsize max_body_bytes,
                                           guint *ret_status, GByteArray **ret_body);
