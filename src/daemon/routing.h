/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What becomes of a message that a bot received (wire contract 6). Pure.
 *
 * A channel that is not sandboxed is none of our business. A sandboxed one is ours whole: what is not
 * answered there goes nowhere else. Its owners are served like its guests.
 */
#pragma once

#include <glib.h>

typedef struct {
  gboolean sandboxed;   /* its channel is on the list */
  gboolean background;  /* a turn of the host's own, not a message */
  gboolean direct;      /* a direct message */
  gboolean integration; /* written by a webhook or the like */
  gboolean bot;         /* written by a bot */
  gboolean unresolved;  /* the host does not know who wrote it */
  gboolean mentioned;   /* it mentions our bot */
  gboolean replied_to;  /* it answers a message of our bot's */
  gboolean owner;       /* written by an owner of the channel: makes no difference */
} SbxInbound;

typedef enum {
  SBX_VERDICT_PASS, /* not ours */
  SBX_VERDICT_DROP, /* ours, and not answered */
  SBX_VERDICT_TURN,
} SbxVerdict;

/* ret_reason: why it is dropped, such as "not-addressed"; else NULL. Static. */
SbxVerdict sbx_route (const SbxInbound *inbound, const char **ret_reason);

/* "pass", "drop", "turn". Static. */
const char *sbx_verdict_name (SbxVerdict verdict);

/* The text of the turn: the quoted message before it, marked as such, where there is one with text, and a
 * notice behind it where files were attached. quoted may be NULL. g_free(). */
char *sbx_route_text (const char *text, const char *quoted, gboolean attachments);
