/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Whether a failed try of a call is made again, and when. Pure: the clock and the dice are arguments.
 *
 * Again: statuses 429, 502, 503 and 504, and a refused connection (nobody listened, so nothing was sent). At
 * most three more tries. Never another 4xx: a second 400 costs money and changes nothing. A call that may
 * change something at the other end (a tool of an MCP server) is tried again only where the first cannot have
 * been carried out: 429, 503 and a refused connection.
 */
#pragma once

#include <glib.h>

#define SBX_RETRY_MAX 3u

typedef enum {
  SBX_RETRY_NO,      /* give up with the failure at hand */
  SBX_RETRY_AGAIN,   /* after *ret_delay_msec */
  SBX_RETRY_TOO_LATE /* the endpoint asks to come back later than there is time: *ret_delay_msec from now */
} SbxRetryVerdict;

typedef struct {
  guint tries_made; /* at least 1 */
  guint status;     /* 0 where there was no answer */
  gboolean connection_refused;
  gboolean may_repeat;     /* a second one does no harm */
  const char *retry_after; /* the header's value, or NULL */
  gint64 now_sec;          /* the time of day, for a date in the header */
  guint left_msec;         /* of the call's time */
  guint dice;              /* any number, to spread tries */
} SbxRetryQuestion;

SbxRetryVerdict sbx_retry_decide (const SbxRetryQuestion *question, guint *ret_delay_msec);

/* Seconds, or an HTTP date in any of the three forms of RFC 9110 (5.6.7); FALSE for anything else. A date
 * that has passed is 0; more than a day is a day. */
gboolean sbx_retry_after_parse (const char *value, gint64 now_sec, guint *ret_sec);
