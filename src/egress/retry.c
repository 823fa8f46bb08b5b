/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/retry.h"

#include <curl/curl.h>
#include <string.h>

#define DAY_SEC          86400
#define FIRST_DELAY_MSEC 500u
/* A try needs some time of its own, or the wait before it was for nothing. */
#define LEAST_TRY_MSEC 1000u

gboolean
sbx_retry_after_parse (const char *value, gint64 now_sec, guint *ret_sec)
{
  gint64 at;
  gsize n_digits = strspn (value, "0123456789");

  if (n_digits > 0 && value[n_digits] == '\0')
    {
      guint64 seconds = n_digits < 10 ? g_ascii_strtoull (value, NULL, 10) : DAY_SEC;

      *ret_sec = (guint) MIN (seconds, (guint64) DAY_SEC);
      return TRUE;
    }
  at = strchr (value, ':') != NULL ? (gint64) curl_getdate (value, NULL) : -1;
  if (at < 0)
    return FALSE;
  *ret_sec = (guint) CLAMP (at - now_sec, 0, DAY_SEC);
  return TRUE;
}

static gboolean
is_retried (const SbxRetryQuestion *question)
{
  if (question->connection_refused || question->status == 429 || question->status == 503)
    return TRUE;
  return question->may_repeat && (question->status == 502 || question->status == 504);
}

SbxRetryVerdict
sbx_retry_decide (const SbxRetryQuestion *question, guint *ret_delay_msec)
{
  guint asked_sec = 0, delay_msec;
  gboolean asked;

  if (!is_retried (question))
    return SBX_RETRY_NO;
  asked = question->retry_after != NULL
          && sbx_retry_after_parse (question->retry_after, question->now_sec, &asked_sec);
  if (asked && (guint64) asked_sec * 1000 + LEAST_TRY_MSEC > question->left_msec)
    {
      *ret_delay_msec = asked_sec * 1000;
      return SBX_RETRY_TOO_LATE;
    }
  if (question->tries_made > SBX_RETRY_MAX)
    return SBX_RETRY_NO;

  /* 0.5, 1, 2 s, each with up to half as much on top, so that turns that failed together do not come back
   * together. */
  delay_msec = FIRST_DELAY_MSEC << (question->tries_made - 1);
  delay_msec += question->dice % (delay_msec / 2);
  if (asked)
    delay_msec = MAX (asked_sec * 1000, asked_sec == 0 ? 50u : delay_msec / 4);
  if (delay_msec + LEAST_TRY_MSEC > question->left_msec)
    return SBX_RETRY_NO;
  *ret_delay_msec = delay_msec;
  return SBX_RETRY_AGAIN;
}
