/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-state.h"

typedef struct {
  SbxTurnState next;
  SbxTurnAction action;
} Step;

#define BUG                                                                                                  \
  {                                                                                                          \
    SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG                                                            \
  }
#define STAY(state)                                                                                          \
  {                                                                                                          \
    SBX_TURN_STATE_##state, SBX_TURN_ACTION_NOTHING                                                          \
  }

static const Step table[_SBX_TURN_STATE_LAST + 1][_SBX_TURN_EVENT_LAST + 1] = {
  [SBX_TURN_STATE_QUEUED] = {
    [SBX_TURN_EVENT_ADMITTED] = { SBX_TURN_STATE_PREPARING, SBX_TURN_ACTION_PREPARE },
    [SBX_TURN_EVENT_BEGUN] = BUG,
    [SBX_TURN_EVENT_SETTLED] = { SBX_TURN_STATE_FINISHED, SBX_TURN_ACTION_TELL_AND_LEAVE },
    [SBX_TURN_EVENT_CLEANED] = BUG,
  },
  [SBX_TURN_STATE_PREPARING] = {
    [SBX_TURN_EVENT_ADMITTED] = BUG,
    [SBX_TURN_EVENT_BEGUN] = { SBX_TURN_STATE_RUNNING, SBX_TURN_ACTION_WATCH },
    [SBX_TURN_EVENT_SETTLED] = { SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_TELL_AND_CLEAN },
    [SBX_TURN_EVENT_CLEANED] = BUG,
  },
  [SBX_TURN_STATE_RUNNING] = {
    [SBX_TURN_EVENT_ADMITTED] = BUG,
    [SBX_TURN_EVENT_BEGUN] = BUG,
    [SBX_TURN_EVENT_SETTLED] = { SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_TELL_AND_CLEAN },
    [SBX_TURN_EVENT_CLEANED] = BUG,
  },
  [SBX_TURN_STATE_FINISHING] = {
    [SBX_TURN_EVENT_ADMITTED] = BUG,
    [SBX_TURN_EVENT_BEGUN] = BUG,
    [SBX_TURN_EVENT_SETTLED] = STAY (FINISHING),
    [SBX_TURN_EVENT_CLEANED] = { SBX_TURN_STATE_FINISHED, SBX_TURN_ACTION_LEAVE },
  },
  [SBX_TURN_STATE_FINISHED] = {
    [SBX_TURN_EVENT_ADMITTED] = BUG,
    [SBX_TURN_EVENT_BEGUN] = BUG,
    [SBX_TURN_EVENT_SETTLED] = STAY (FINISHED),
    [SBX_TURN_EVENT_CLEANED] = BUG,
  },
};

SbxTurnAction
sbx_turn_state_step (SbxTurnState state, SbxTurnEvent event, SbxTurnState *ret_next)
{
  g_return_val_if_fail (state <= _SBX_TURN_STATE_LAST, SBX_TURN_ACTION_BUG);
  g_return_val_if_fail (event <= _SBX_TURN_EVENT_LAST, SBX_TURN_ACTION_BUG);

  /* A finished turn has nothing left that a bug could end. */
  *ret_next = state == SBX_TURN_STATE_FINISHED ? state : table[state][event].next;
  return table[state][event].action;
}

const char *
sbx_turn_state_name (SbxTurnState state)
{
  static const char *const names[] = { "queued", "preparing", "running", "finishing", "finished" };

  g_return_val_if_fail (state <= _SBX_TURN_STATE_LAST, "");

  return names[state];
}
