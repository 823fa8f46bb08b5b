/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The life of a turn as a table. Pure.
 *
 *   queued --ADMITTED--> preparing --BEGUN--> running --SETTLED--> finishing --CLEANED--> finished
 *
 * SETTLED (an outcome is known: a reply, a failure, a cancellation, the deadline) may come in any state; the
 * first one counts, is recorded and told, and every later one is nothing. From `queued` it leads straight to
 * `finished`, since nothing has been made yet. A pair that is not in the table is a bug of ours, and ends the
 * turn.
 */
#pragma once

#include <glib.h>

typedef enum {
  SBX_TURN_STATE_QUEUED,
  SBX_TURN_STATE_PREPARING,
  SBX_TURN_STATE_RUNNING,
  SBX_TURN_STATE_FINISHING, /* the outcome is told; what was made is being removed */
  SBX_TURN_STATE_FINISHED,
  _SBX_TURN_STATE_LAST = SBX_TURN_STATE_FINISHED,
} SbxTurnState;

typedef enum {
  SBX_TURN_EVENT_ADMITTED, /* the queue gave it a place */
  SBX_TURN_EVENT_BEGUN,    /* the worker and the broker have the turn */
  SBX_TURN_EVENT_SETTLED,
  SBX_TURN_EVENT_CLEANED, /* all is removed, or what could not be is in the reaper's hands */
  _SBX_TURN_EVENT_LAST = SBX_TURN_EVENT_CLEANED,
} SbxTurnEvent;

typedef enum {
  SBX_TURN_ACTION_BUG, /* the pair is not in the table */
  SBX_TURN_ACTION_NOTHING,
  SBX_TURN_ACTION_PREPARE,
  SBX_TURN_ACTION_WATCH, /* it runs: wait for what comes */
  SBX_TURN_ACTION_TELL_AND_CLEAN,
  SBX_TURN_ACTION_TELL_AND_LEAVE,
  SBX_TURN_ACTION_LEAVE, /* give the place back to the queue */
} SbxTurnAction;

/* What to do on event in state, with the state that follows. */
SbxTurnAction sbx_turn_state_step (SbxTurnState state, SbxTurnEvent event, SbxTurnState *ret_next);

/* "queued", … Static. */
const char *sbx_turn_state_name (SbxTurnState state);
