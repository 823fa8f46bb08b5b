/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-state.h"

/* The table as a person reads it; every pair, so that a new state or event cannot be forgotten. */
static const struct {
  SbxTurnState state;
  SbxTurnEvent event;
  SbxTurnState next;
  SbxTurnAction action;
} pairs[] = {
  { SBX_TURN_STATE_QUEUED, SBX_TURN_EVENT_ADMITTED, SBX_TURN_STATE_PREPARING, SBX_TURN_ACTION_PREPARE },
  { SBX_TURN_STATE_QUEUED, SBX_TURN_EVENT_BEGUN, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_QUEUED, SBX_TURN_EVENT_SETTLED, SBX_TURN_STATE_FINISHED, SBX_TURN_ACTION_TELL_AND_LEAVE },
  { SBX_TURN_STATE_QUEUED, SBX_TURN_EVENT_CLEANED, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_PREPARING, SBX_TURN_EVENT_ADMITTED, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_PREPARING, SBX_TURN_EVENT_BEGUN, SBX_TURN_STATE_RUNNING, SBX_TURN_ACTION_WATCH },
  { SBX_TURN_STATE_PREPARING, SBX_TURN_EVENT_SETTLED, SBX_TURN_STATE_FINISHING,
    SBX_TURN_ACTION_TELL_AND_CLEAN },
  { SBX_TURN_STATE_PREPARING, SBX_TURN_EVENT_CLEANED, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_RUNNING, SBX_TURN_EVENT_ADMITTED, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_RUNNING, SBX_TURN_EVENT_BEGUN, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_RUNNING, SBX_TURN_EVENT_SETTLED, SBX_TURN_STATE_FINISHING,
    SBX_TURN_ACTION_TELL_AND_CLEAN },
  { SBX_TURN_STATE_RUNNING, SBX_TURN_EVENT_CLEANED, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_FINISHING, SBX_TURN_EVENT_ADMITTED, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_FINISHING, SBX_TURN_EVENT_BEGUN, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_FINISHING, SBX_TURN_EVENT_SETTLED, SBX_TURN_STATE_FINISHING, SBX_TURN_ACTION_NOTHING },
  { SBX_TURN_STATE_FINISHING, SBX_TURN_EVENT_CLEANED, SBX_TURN_STATE_FINISHED, SBX_TURN_ACTION_LEAVE },
  { SBX_TURN_STATE_FINISHED, SBX_TURN_EVENT_ADMITTED, SBX_TURN_STATE_FINISHED, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_FINISHED, SBX_TURN_EVENT_BEGUN, SBX_TURN_STATE_FINISHED, SBX_TURN_ACTION_BUG },
  { SBX_TURN_STATE_FINISHED, SBX_TURN_EVENT_SETTLED, SBX_TURN_STATE_FINISHED, SBX_TURN_ACTION_NOTHING },
  { SBX_TURN_STATE_FINISHED, SBX_TURN_EVENT_CLEANED, SBX_TURN_STATE_FINISHED, SBX_TURN_ACTION_BUG },
};

static void
test_every_pair (void)
{
  g_assert_cmpuint (G_N_ELEMENTS (pairs), ==, (_SBX_TURN_STATE_LAST + 1) * (_SBX_TURN_EVENT_LAST + 1));
  for (gsize i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      SbxTurnState next = SBX_TURN_STATE_QUEUED;

      g_test_message ("%s, event %d", sbx_turn_state_name (pairs[i].state), (int) pairs[i].event);
      g_assert_cmpint (sbx_turn_state_step (pairs[i].state, pairs[i].event, &next), ==, pairs[i].action);
      g_assert_cmpint (next, ==, pairs[i].next);
    }
}

/* However events come, an outcome is told at most once and a place given back at most once. */
static void
test_random_walks (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);

  for (guint walk = 0; walk < 5000; walk++)
    {
      SbxTurnState state = SBX_TURN_STATE_QUEUED;
      guint told = 0;
      guint left = 0;

      for (guint step = 0; step < 20; step++)
        {
          SbxTurnState next = state;
          SbxTurnAction action = sbx_turn_state_step (
            state, (SbxTurnEvent) g_rand_int_range (rand, 0, _SBX_TURN_EVENT_LAST + 1), &next);

          if (action == SBX_TURN_ACTION_BUG)
            continue;
          told += action == SBX_TURN_ACTION_TELL_AND_CLEAN || action == SBX_TURN_ACTION_TELL_AND_LEAVE;
          left += action == SBX_TURN_ACTION_LEAVE || action == SBX_TURN_ACTION_TELL_AND_LEAVE;
          g_assert_cmpint (next, >=, state);
          state = next;
        }
      g_assert_cmpuint (told, <=, 1);
      g_assert_cmpuint (left, <=, told);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/turn-state/every-pair", test_every_pair);
  g_test_add_func ("/turn/turn-state/random-walks", test_random_walks);
  return g_test_run ();
}
