/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a turn took: time in each of its states, calls, bytes, tokens. Pure. */
#pragma once

#include "turn/turn-state.h"
#include "wire/control.h"

/* The states that take time, all but finished. */
#define SBX_TURN_N_PHASES SBX_TURN_STATE_FINISHED

typedef struct {
  gint64 phase_usec[SBX_TURN_N_PHASES]; /* of those that are over */
  guint64 calls;                        /* of its worker, with those that were refused */
  guint64 calls_refused;                /* got another status than 200 */
  guint64 request_bytes;
  guint64 answer_bytes;
  guint64 prompt_tokens; /* as the endpoint counts them, 0 where it does not */
  guint64 answer_tokens;
} SbxTurnUsage;

/* A call, and the entries that the audit left out before it (broker/audit.h): they count as refused. */
void sbx_turn_usage_add_call (SbxTurnUsage *self, const SbxControlAudit *entry);

/* The journal's fields SANDBOX_QUEUED_MSEC=, _PREPARING_, _RUNNING_, _TOTAL_ (of the last two),
 * SANDBOX_CALLS= and so on as NAME, value, …, NULL for SbxLogFields.more. Free with g_strfreev(). */
GStrv sbx_turn_usage_to_fields (const SbxTurnUsage *self);
