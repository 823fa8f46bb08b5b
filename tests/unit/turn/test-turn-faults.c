/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A whole turn while Docker, or something of ours, does not do what it should. */
#include <string.h>
#include <sys/socket.h>

#include "turn-fixture.h"

/* Docker does not remove it: told all the same, the place is free, and the reaper has it. */
static void
test_removal_fails (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "reply");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  for (guint i = 0; i < 3; i++)
    fake_docker_add_json (self->docker, "DELETE /v1.41/containers/roundtable-sandbox-", 500,
                          "{\"message\":\"busy\"}");
  (void) turn_fixture_submit (self);
  while (sbx_turns_n_running (self->turns) + sbx_turns_n_queued (self->turns) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_cmpuint (sbx_reaper_n_left (self->context.reaper), ==, 1);
  turn_fixture_script_delete (self);
  while (sbx_reaper_n_left (self->context.reaper) > 0)
    g_main_context_iteration (NULL, TRUE);
  turn_fixture_run_out (self);
}

/* A removal that does not come to its end: forced out when it has had all the time that it may take, and the
 * place is free. It ends later, and harms nobody. */
static void
test_stuck_removal (TurnFixture *self, gconstpointer data)
{
  const guint n = 5; /* image, create, attach, start, wait */
  gint64 now;

  turn_fixture_use_broker (self, "reply");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  fake_docker_add (self->docker, "DELETE /v1.41/containers/roundtable-sandbox-", NULL, 0, FAKE_HOLD);
  (void) turn_fixture_submit (self);
  while (fake_docker_n_requests (self->docker) <= n)
    g_main_context_iteration (NULL, TRUE);
  now = g_get_monotonic_time ();
  sbx_turns_look (self->turns, now + SBX_TURN_STUCK_USEC - 5 * (gint64) G_USEC_PER_SEC);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (sbx_turns_n_running (self->turns), ==, 1);
  sbx_turns_look (self->turns, now + SBX_TURN_STUCK_USEC);
  g_assert_cmpuint (sbx_turns_n_running (self->turns), ==, 0);
  g_assert_cmpuint (sbx_reaper_n_left (self->context.reaper), ==, 1);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  sbx_turns_look (self->turns, now + 2 * SBX_TURN_STUCK_USEC);
  /* The removal's next try, and the reaper's. */
  turn_fixture_script_delete (self);
  turn_fixture_script_delete (self);
  g_assert_no_errno (shutdown (fake_docker_fd (self->docker, n), SHUT_RDWR));
  while (sbx_reaper_n_left (self->context.reaper) > 0 || fake_docker_n_requests (self->docker) < n + 3)
    g_main_context_iteration (NULL, TRUE);
  turn_fixture_run_out (self);
}

/* Its own deadline did not come. */
static void
test_stuck_work (TurnFixture *self, gconstpointer data)
{
  gint64 limit = SBX_TURN_LATE_USEC + (gint64) self->context.settings->config->deadline_usec;
  SbxTurn *turn;

  turn_fixture_use_broker (self, "silent");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  turn = turn_fixture_submit (self);
  sbx_turns_look (self->turns, g_get_monotonic_time () + 2 * limit);
  while (sbx_turn_state (turn) != SBX_TURN_STATE_RUNNING)
    g_main_context_iteration (NULL, TRUE);
  sbx_turns_look (self->turns, g_get_monotonic_time () + limit - 5 * (gint64) G_USEC_PER_SEC);
  g_assert_cmpuint (self->n_told, ==, 0);
  sbx_turns_look (self->turns, g_get_monotonic_time () + limit);
  g_assert_cmpuint (self->n_told, ==, 1);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_DEADLINE);
}

/* A creation that was never answered: looked for again, and no leftover for anybody to worry about. */
static void
test_suspect (TurnFixture *self, gconstpointer data)
{
  turn_fixture_script_delete (self);
  sbx_reaper_suspect (self->context.reaper, "t1", "roundtable-sandbox-0-0");
  g_assert_cmpuint (sbx_reaper_n_left (self->context.reaper), ==, 0);
  while (fake_docker_n_requests (self->docker) == 0)
    g_main_context_iteration (NULL, TRUE);
}

/* 137 is what a container has that was killed, and one whose Docker has ended with it. */
static void
test_docker_is_restarted (TurnFixture *self, gconstpointer data)
{
  gboolean restarted = data != NULL;
  const guint n = 4; /* image, create, attach, start */
  SbxTurn *turn;

  turn_fixture_use_broker (self, "sorry");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  fake_docker_add_json (self->docker, "GET /v1.41/containers/roundtable-sandbox-", 200,
                        "{\"Id\":\"abc\",\"Name\":\"/x\",\"State\":{\"Status\":\"exited\",\"Running\":false,"
                        "\"OOMKilled\":false,\"Pid\":0,\"ExitCode\":137,\"Error\":\"\"}}");
  turn_fixture_script_delete (self);
  turn = turn_fixture_submit (self);
  while (sbx_turn_state (turn) != SBX_TURN_STATE_RUNNING || fake_docker_n_requests (self->docker) <= n)
    g_main_context_iteration (NULL, TRUE);
  if (restarted)
    fake_docker_end_events (self->docker);
  turn_fixture_worker_ends (self, n);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, restarted ? SBX_FAILURE_DOCKER_DOWN : SBX_FAILURE_WORKER_KILLED);
}

/* The turn ends while systemd makes its broker's scope: it is given up when it is there. */
static void
test_scope_comes_late (TurnFixture *self, gconstpointer data)
{
  gboolean made = data == NULL;

  turn_fixture_use_broker (self, "reply");
  self->scope_is_late = TRUE;
  fake_docker_add_json (self->docker, "GET /v1.41/images/", 200, OWN_IMAGE);
  fake_docker_add_json (self->docker, "POST /v1.41/containers/create", 400, "{\"message\":\"no\"}");
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_DOCKER_REFUSED);
  g_assert_cmpuint (self->n_stopped, ==, 0);
  if (made)
    g_task_return_boolean (self->late_scope, TRUE);
  else
    g_task_return_new_error (self->late_scope, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NOT_MEMBER, "gone");
  g_clear_object (&self->late_scope);
  while (self->n_stopped == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (self->n_stopped, ==, 1);
}

static void
assert_is_a_turn (const GString *input)
{
  g_assert_true (g_str_has_prefix (input->str, "{"));
  g_assert_true (g_str_has_suffix (input->str, "}\n"));
}

/* A worker of our version stays behind its reply: the end of its input sends it away, and its container is
 * removed when it has gone; or all the same, where it does not go. */
static void
test_worker_stays (TurnFixture *self, gconstpointer data)
{
  gboolean goes = data == NULL;
  g_autoptr (GString) input = g_string_new (NULL);
  gboolean ended = FALSE;

  turn_fixture_use_broker (self, "reply");
  turn_fixture_script_until_start (self, CURRENT_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  while (!ended)
    {
      g_main_context_iteration (NULL, TRUE);
      if (fake_docker_n_requests (self->docker) > WAITED)
        ended = turn_fixture_read_input (self, input);
    }
  /* That broker may have replied before the turn was written. */
  if (input->len > 0)
    assert_is_a_turn (input);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_cmpuint (self->n_killed, ==, 0);
  if (goes)
    turn_fixture_worker_ends (self, WAITED);
  turn_fixture_run_out (self);
  g_assert_cmpuint (fake_docker_n_requests (self->docker), ==, WAITED + 2);
  /* Docker may hang. */
  if (!goes)
    g_assert_cmpuint (self->n_killed, ==, 1);
}

/* Nobody has replied: our worker's input is still open then, any other's has ended behind the turn. */
static void
test_input (TurnFixture *self, gconstpointer data)
{
  const char *image = data;
  gboolean current = g_str_equal (image, CURRENT_IMAGE);
  g_autoptr (GString) input = g_string_new (NULL);
  SbxTurn *turn;

  turn_fixture_use_broker (self, "silent");
  turn_fixture_script_until_start (self, image);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  turn = turn_fixture_submit (self);
  while (sbx_turn_state (turn) != SBX_TURN_STATE_RUNNING || fake_docker_n_requests (self->docker) <= WAITED
         || !g_str_has_suffix (input->str, "}\n"))
    {
      g_main_context_iteration (NULL, TRUE);
      if (fake_docker_n_requests (self->docker) > WAITED)
        (void) turn_fixture_read_input (self, input);
    }
  assert_is_a_turn (input);
  while (!current && !turn_fixture_read_input (self, input))
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (turn_fixture_read_input (self, input) == !current);
  g_assert_true (sbx_turns_cancel (self->turns, sbx_turn_id (turn)));
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_CANCELLED);
  g_assert_cmpuint (self->n_killed, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD_DATA(name, func, data)                                                                           \
  g_test_add ("/turn/turn-faults/" name, TurnFixture, data, turn_fixture_set_up, func, turn_fixture_tear_down)
#define ADD(name, func) ADD_DATA (name, func, NULL)
  ADD ("removal-fails", test_removal_fails);
  ADD ("suspect", test_suspect);
  ADD ("worker-stays", test_worker_stays);
  ADD_DATA ("worker-stays-too-long", test_worker_stays, "stays");
  ADD_DATA ("input-of-ours", test_input, CURRENT_IMAGE);
  ADD_DATA ("input-of-an-old-one", test_input, OWN_IMAGE);
  ADD_DATA ("input-of-one-made-from-ours", test_input, DERIVED_IMAGE);
  ADD_DATA ("input-of-another", test_input, OTHER_IMAGE);
  ADD ("stuck-removal", test_stuck_removal);
  ADD ("stuck-work", test_stuck_work);
  ADD ("scope-comes-late", test_scope_comes_late);
  ADD_DATA ("scope-comes-late-and-empty", test_scope_comes_late, "empty");
  ADD ("worker-is-killed", test_docker_is_restarted);
  ADD_DATA ("docker-is-restarted", test_docker_is_restarted, "restarted");
  return g_test_run ();
}
