/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Summarises the old part of a channel's history when it would be cut, where the operator wants that.
 *
 * Tried in this order, once a turn: the operator's compactor (a host tool that the model is not offered), the
 * model itself; where neither gives a text, the old part is dropped as it would be without. A summary stands
 * in the history as a user message that begins with SBX_COMPACTION_HEAD; no guest can write one, since what
 * guests say is always inside a JSON text there.
 */
#pragma once

#include <glib.h>

#include "history.h"
#include "reply.h"
#include "turn-input.h"

#define SBX_COMPACTION_HEAD "[Summary of what was said before]\n"
/* Messages that stay as they are, where there is room for them. */
#define SBX_COMPACTION_KEPT 8u
/* Of the time that the turn has left when it comes, the most that is spent here; below the least it is not
 * tried. */
#define SBX_COMPACTION_MAX_MSEC 60000
#define SBX_COMPACTION_MIN_MSEC 2000
/* Of a turn whose host does not say what it has left: the contract's default deadline. */
#define SBX_COMPACTION_USUAL_MSEC 120000

/* Posts body to path of the broker: the 200 answer's body, or NULL with error set (SBX_BROKER_ERROR). */
typedef GByteArray *(*SbxCompactionPost) (gpointer user_data, const char *path, const GString *body,
                                          guint deadline_msec, GError **error);

typedef struct {
  SbxCompactionReason reason;
  const char *by;        /* "tool", "model" or "dropped" */
  guint64 tokens_before; /* about: a fourth of the history's bytes */
} SbxCompactionReport;

/* Whether this turn's exchange would push messages out of the file, or n_dropped of them are out of the
 * request. */
gboolean sbx_compaction_is_due (GPtrArray *history, guint n_dropped);

/* How many of the oldest messages are summarised. */
guint sbx_compaction_split (GPtrArray *history, guint n_dropped);

/* The history with the oldest part summarised, or NULL where that failed. calls_left is -1 for any number;
 * two calls are left for the turn. *ret_report is set in any case. */
GPtrArray *
sbx_compaction_run (const SbxTurnInput *input, GPtrArray *history, guint n_dropped, gint64 calls_left,
                    SbxCompactionPost post, gpointer user_data, SbxCompactionReport *ret_report);
