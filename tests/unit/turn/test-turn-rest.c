/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A turn that has its reply and whose removal lets others go first, and what comes meanwhile. Left to itself
 * it would rest for longer than any test may take. */

#include "turn-fixture.h"

#define LONG_USEC (600 * (gint64) G_USEC_PER_SEC)

static void
run_what_is_due (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    continue;
}

static SbxTurn *
reply (TurnFixture *self, const char *broker)
{
  SbxTurn *turn;

  sbx_rest_free (self->context.rest);
  self->context.rest = sbx_rest_new (LONG_USEC, LONG_USEC);
  sbx_rest_turn (self->context.rest, "another's");
  turn_fixture_use_broker (self, broker);
  turn_fixture_script_until_start (self, CURRENT_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  turn = turn_fixture_submit (self);
  while (self->n_told == 0 || fake_docker_n_requests (self->docker) <= WAITED)
    g_main_context_iteration (NULL, TRUE);
  return turn;
}

static void
assert_rests (TurnFixture *self, const SbxTurn *turn)
{
  run_what_is_due ();
  g_assert_cmpuint (sbx_turns_n_running (self->turns), ==, 1);
  g_assert_cmpint (sbx_turn_state (turn), ==, SBX_TURN_STATE_FINISHING);
  g_assert_cmpstr (sbx_turn_waits_for (turn), ==, "turn");
  g_assert_cmpuint (fake_docker_n_requests (self->docker), ==, WAITED + 1);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
}

/* --- what ends it --- */

static void
on_done (const GError *error, gpointer user_data)
{
  g_assert_no_error (error);
}

static void
switch_off (TurnFixture *self)
{
  g_assert_true (sbx_turns_set_mode (self->turns, CHANNEL, FALSE, 0, on_done, NULL, NULL));
}

static void
on_stopped (gpointer user_data)
{
}

static void
stop (TurnFixture *self)
{
  sbx_turns_stop (self->turns, on_stopped, NULL);
}

/* It waits behind it, and then has no image. */
static void
speak_again (TurnFixture *self)
{
  const SbxTurnRequest request = {
    .channel = CHANNEL, .speaker_id = "7", .speaker_name = "Ada", .text = "and?", .uid = 1
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *id = NULL;

  fake_docker_add_json (self->docker, "POST /v1.41/containers/create?name=roundtable-sandbox-", 404,
                        "{\"message\":\"No such image: x\"}");
  turn_fixture_script_delete (self);
  id = sbx_turns_submit (self->turns, &request, NULL, &error);
  g_assert_no_error (error);
}

static const struct {
  const char *name;
  void (*act) (TurnFixture *self);
} wants[] = {
  { "channel-off", switch_off },
  { "stopped", stop },
  { "next-of-the-channel", speak_again },
};

/* Somebody waits for it: its worker gets the end of its input, and the removal follows the worker. */
static void
test_wanted (TurnFixture *self, gconstpointer data)
{
  assert_rests (self, reply (self, "reply"));
  g_assert_false (turn_fixture_read_input (self, NULL));
  wants[GPOINTER_TO_UINT (data)].act (self);
  while (!turn_fixture_read_input (self, NULL))
    g_main_context_iteration (NULL, TRUE);
  turn_fixture_worker_ends (self, WAITED);
  turn_fixture_run_out (self);
}

/* Whoever would rather not wait need not be turned away for it. */
static void
test_nobody_would_wait (TurnFixture *self, gconstpointer data)
{
  const SbxTurn *turn = reply (self, "reply");

  self->context.settings->config->max_turns = 1;
  assert_rests (self, turn);
  g_assert_false (sbx_turns_would_wait (self->turns, CHANNEL));
  sbx_rest_set_wanted (self->context.rest, TRUE);
  while (sbx_turn_rests (turn))
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (sbx_turns_would_wait (self->turns, CHANNEL));
  g_assert_true (sbx_turns_would_wait (self->turns, "test:2"));
  turn_fixture_worker_ends (self, WAITED);
  turn_fixture_run_out (self);
}

/* Nobody can wait, so that nobody would end it: they would be turned away for as long. */
static void
test_nobody_may_wait (TurnFixture *self, gconstpointer data)
{
  self->context.settings->config->max_queued = 0;
  sbx_turns_reconfigure (self->turns);
  (void) reply (self, "reply");
  while (!turn_fixture_read_input (self, NULL))
    g_main_context_iteration (NULL, TRUE);
  turn_fixture_worker_ends (self, WAITED);
  turn_fixture_run_out (self);
}

/* What the channel has is to be deleted: no worker may write there meanwhile. */
static void
test_purged (TurnFixture *self, gconstpointer data)
{
  assert_rests (self, reply (self, "reply"));
  g_assert_false (sbx_turns_purge (self->turns, CHANNEL));
  g_assert_cmpuint (self->n_killed, ==, 1);
  turn_fixture_run_out (self);
  g_assert_cmpuint (self->n_killed, ==, 1);
}

/* The same for one that has been told to end and has not done so yet. */
static void
test_purged_late (TurnFixture *self, gconstpointer data)
{
  SbxTurn *turn = reply (self, "reply");

  assert_rests (self, turn);
  sbx_rest_set_wanted (self->context.rest, TRUE);
  while (!g_str_equal (sbx_turn_waits_for (turn), "worker"))
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (turn_fixture_read_input (self, NULL));
  g_assert_false (sbx_turns_purge (self->turns, CHANNEL));
  g_assert_cmpuint (self->n_killed, ==, 1);
  g_assert_cmpstr (sbx_turn_waits_for (turn), ==, "docker");
  (void) sbx_turns_purge (self->turns, CHANNEL);
  g_assert_cmpuint (self->n_killed, ==, 1);
  turn_fixture_run_out (self);
}

/* --- what does not --- */

static void
end_worker (TurnFixture *self)
{
  turn_fixture_worker_ends (self, WAITED);
}

static void
end_docker (TurnFixture *self)
{
  fake_docker_end_events (self->docker);
  fake_docker_close (self->docker, WAITED);
}

static void
cancel (TurnFixture *self)
{
  g_assert_cmpuint (sbx_turns_cancel_chosen (self->turns, &(SbxTurnChoice){ .channel = CHANNEL }), ==, 0);
}

static void
look (TurnFixture *self)
{
  sbx_turns_look (self->turns, g_get_monotonic_time () + SBX_TURN_STUCK_USEC / 2);
}

static void
nothing (TurnFixture *self)
{
}

static const struct {
  const char *name;
  const char *broker;
  void (*act) (TurnFixture *self);
} events[] = {
  { "worker-ends", "reply", end_worker }, { "broker-ends", "leaves", nothing },
  { "docker-ends", "reply", end_docker }, { "cancelled", "reply", cancel },
  { "looked-at", "reply", look },
};

/* Its outcome stands, and it rests on. */
static void
test_rests_on (TurnFixture *self, gconstpointer data)
{
  gsize i = GPOINTER_TO_UINT (data);
  SbxTurn *turn = reply (self, events[i].broker);

  assert_rests (self, turn);
  events[i].act (self);
  assert_rests (self, turn);
  sbx_rest_set_wanted (self->context.rest, TRUE);
  turn_fixture_run_out (self);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
}

/* It cannot be forced out while it rests, but is behind it. */
static void
test_stuck (TurnFixture *self, gconstpointer data)
{
  SbxTurn *turn = reply (self, "reply");

  assert_rests (self, turn);
  sbx_turns_look (self->turns, g_get_monotonic_time () + SBX_TURN_STUCK_USEC);
  assert_rests (self, turn);
  sbx_rest_set_wanted (self->context.rest, TRUE);
  while (!g_str_equal (sbx_turn_waits_for (turn), "worker"))
    g_main_context_iteration (NULL, TRUE);
  sbx_turns_look (self->turns, g_get_monotonic_time () + SBX_TURN_STUCK_USEC);
  g_assert_cmpuint (sbx_turns_n_running (self->turns), ==, 0);
  g_assert_cmpuint (self->n_killed, ==, 1);
  while (sbx_reaper_n_left (self->context.reaper) > 0)
    g_main_context_iteration (NULL, TRUE);
  turn_fixture_run_out (self);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD_DATA(name, func, data)                                                                           \
  g_test_add (name, TurnFixture, data, turn_fixture_set_up, func, turn_fixture_tear_down)
#define ADD(name, func) ADD_DATA ("/turn/turn-rest/" name, func, NULL)
  for (guint i = 0; i < G_N_ELEMENTS (wants); i++)
    {
      g_autofree char *name = g_strconcat ("/turn/turn-rest/wanted/", wants[i].name, NULL);

      ADD_DATA (name, test_wanted, GUINT_TO_POINTER (i));
    }
  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    {
      g_autofree char *name = g_strconcat ("/turn/turn-rest/rests-on/", events[i].name, NULL);

      ADD_DATA (name, test_rests_on, GUINT_TO_POINTER (i));
    }
  ADD ("nobody-may-wait", test_nobody_may_wait);
  ADD ("nobody-would-wait", test_nobody_would_wait);
  ADD ("purged", test_purged);
  ADD ("purged-late", test_purged_late);
  ADD ("stuck", test_stuck);
  return g_test_run ();
}
