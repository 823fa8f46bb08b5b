/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* An answer gives one verdict, however it is split: what is done early is done with more. */
#include "fuzz.h"

#include "http-answer.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_autoptr (GByteArray) part = g_byte_array_new ();
  g_autoptr (GByteArray) whole = g_byte_array_new ();
  g_autoptr (GByteArray) body = NULL;
  g_autoptr (GByteArray) again = NULL;
  guint status = 0;

  if (n_bytes == 0)
    return 0;
  g_byte_array_append (whole, data, (guint) n_bytes);
  g_byte_array_append (part, data, (guint) n_bytes / 2);
  if (sbx_http_answer_read (part, FALSE, 4096, &status, &body) == SBX_HTTP_ANSWER_DONE)
    {
      g_assert (sbx_http_answer_read (whole, FALSE, 4096, &status, &again) == SBX_HTTP_ANSWER_DONE);
      g_assert (body->len == again->len && body->len <= 4096 && status <= 999);
      return 0;
    }
  g_assert (sbx_http_answer_read (whole, TRUE, 4096, &status, &again) != SBX_HTTP_ANSWER_MORE);
  return 0;
}
