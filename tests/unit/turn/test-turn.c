/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A whole turn, from its place in the queue until nothing of it is left. */
#include "bus/errors.h"
#include "turn-fixture.h"

static void
test_reply_at_once (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "reply");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_true (self->outcome.ok);
  g_assert_cmpstr (self->outcome.text, ==, "hello guest");
  g_assert_cmpuint (fake_egress_n_announced (self->egress), ==, 1);
  /* The grant is shut down, whoever holds a copy. */
  while (fake_egress_n_open (self->egress) > 0)
    g_main_context_iteration (NULL, TRUE);
}

typedef struct {
  const char *broker;
  const char *image;
  int exit_status;     /* what wait answers */
  const char *inspect; /* asked for the reason; NULL: not asked */
  SbxFailure failure;  /* NONE: replied */
  gboolean ok;
} Ending;

#define STATE(oom, status)                                                                                   \
  "{\"Id\":\"abc\",\"Name\":\"/x\",\"State\":{\"Status\":\"exited\",\"Running\":false,\"OOMKilled\":" oom    \
  ",\"Pid\":0,\"ExitCode\":" status ",\"Error\":\"\"}}"

static const Ending endings[] = {
  { "reply", OTHER_IMAGE, 0, NULL, SBX_FAILURE_NONE, TRUE },
  { "reply", OTHER_IMAGE, 1, STATE ("false", "1"), SBX_FAILURE_WORKER_FAILED, FALSE },
  { "sorry", OWN_IMAGE, 0, NULL, SBX_FAILURE_NONE, FALSE },
  { "sorry", OWN_IMAGE, 1, STATE ("false", "1"), SBX_FAILURE_WORKER_FAILED, FALSE },
  { "disk-full", OWN_IMAGE, 1, STATE ("false", "1"), SBX_FAILURE_DISK_FULL, FALSE },
  { "disk-full", OWN_IMAGE, 137, STATE ("true", "137"), SBX_FAILURE_WORKER_OOM, FALSE },
  { "sorry", OWN_IMAGE, 137, STATE ("true", "137"), SBX_FAILURE_WORKER_OOM, FALSE },
  { "sorry", OWN_IMAGE, 137, STATE ("false", "137"), SBX_FAILURE_WORKER_KILLED, FALSE },
};

static void
test_ending (TurnFixture *self, gconstpointer data)
{
  const Ending *ending = data;
  g_autofree char *waited = g_strdup_printf ("{\"StatusCode\":%d}", ending->exit_status);

  turn_fixture_use_broker (self, ending->broker);
  turn_fixture_script_until_start (self, ending->image);
  fake_docker_add_json (self->docker, "POST /v1.41/containers/roundtable-sandbox-", 200, waited);
  if (ending->inspect != NULL)
    fake_docker_add_json (self->docker, "GET /v1.41/containers/roundtable-sandbox-", 200, ending->inspect);
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  if (ending->failure != SBX_FAILURE_NONE)
    turn_fixture_assert_failed (self, ending->failure);
  else
    g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_cmpint (self->outcome.ok, ==, ending->ok);
}

/* What the broker says of a model call can be the reason of a turn, but never one that is sandboxd's own: a
 * worker hangs up on its call, a call takes too long, a broker in foreign hands says "the channel is off". */
static const struct {
  SbxFailure said;
  SbxFailure failure;
} model_failures[] = {
  { SBX_FAILURE_KEY_MISSING, SBX_FAILURE_KEY_MISSING },
  { SBX_FAILURE_RATE_LIMITED, SBX_FAILURE_RATE_LIMITED },
  { SBX_FAILURE_BUDGET_SPENT, SBX_FAILURE_BUDGET_SPENT },
  { SBX_FAILURE_DEADLINE, SBX_FAILURE_MODEL_TIMEOUT },
  { SBX_FAILURE_CANCELLED, SBX_FAILURE_WORKER_FAILED },
  { SBX_FAILURE_MODE_OFF, SBX_FAILURE_WORKER_FAILED },
  { SBX_FAILURE_RESTARTED, SBX_FAILURE_WORKER_FAILED },
  { SBX_FAILURE_DISK_LOW, SBX_FAILURE_WORKER_FAILED },
};

static void
test_model_failure (TurnFixture *self, gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  g_autofree char *mode = g_strdup_printf ("audit-%d", (int) model_failures[i].said);

  turn_fixture_use_broker (self, mode);
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  fake_docker_add_json (self->docker, "GET /v1.41/containers/roundtable-sandbox-", 200, STATE ("false", "1"));
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, model_failures[i].failure);
}

static void
test_invalid_reply (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "invalid");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_REPLY_INVALID);
}

static void
test_image_missing (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "reply");
  fake_docker_add_json (self->docker, "GET /v1.41/images/", 404, "{\"message\":\"No such image: x\"}");
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_IMAGE_MISSING);
  g_assert_cmpuint (fake_egress_n_announced (self->egress), ==, 0);
}

static void
test_docker_down (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "reply");
  g_clear_pointer (&self->context.reaper, sbx_reaper_free);
  sbx_engine_unref (self->context.engine);
  self->context.engine = sbx_engine_new ("/nonexistent");
  sbx_image_watch_free (self->context.images);
  self->context.images = sbx_image_watch_new (self->context.engine, NULL, NULL);
  self->context.reaper = sbx_reaper_new (self->context.engine, NULL, NULL);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_DOCKER_DOWN);
}

/* The creation under way is waited for, then undone. */
static void
test_scope_refused (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "reply");
  self->n_scopes_refused = 2;
  fake_docker_add_json (self->docker, "GET /v1.41/images/", 200, OWN_IMAGE);
  fake_docker_add_json (self->docker, "POST /v1.41/containers/create", 201,
                        "{\"Id\":\"abc\",\"Warnings\":[]}");
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_SCOPE_REFUSED);
}

/* polkit says no once to what it allows, or a unit of that name is loaded: it is tried again, under another
 * name there, and the turn is not lost. */
static void
test_scope_is_tried_again (TurnFixture *self, gconstpointer data)
{
  if (data != NULL)
    self->n_names_taken = 2;
  else
    self->n_scopes_refused = 1;
  turn_fixture_use_broker (self, "reply");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_cmpuint (self->n_names_taken + self->n_scopes_refused, ==, 0);
}

/* Somebody removed the container before its status was read: no reply counts without one. */
static void
test_status_is_unknown (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "reply");
  turn_fixture_script_until_start (self, OTHER_IMAGE);
  fake_docker_add_json (self->docker, "POST /v1.41/containers/roundtable-sandbox-", 404,
                        "{\"message\":\"No such container\"}");
  fake_docker_add_json (self->docker, "GET /v1.41/containers/roundtable-sandbox-", 404,
                        "{\"message\":\"No such container\"}");
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_WORKER_FAILED);
}

static void
test_key_missing (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "reply");
  fake_egress_answer_announce (self->egress, SBX_FAILURE_KEY_MISSING);
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_KEY_MISSING);
}

static void
test_broker_dies (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "dies");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_BROKER_FAILED);
}

static void
test_deadline (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "silent");
  self->context.settings->config->deadline_usec = 300 * 1000;
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_DEADLINE);
}

static void
test_cancel_running (TurnFixture *self, gconstpointer data)
{
  SbxTurn *turn;

  turn_fixture_use_broker (self, "silent");
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
  turn = turn_fixture_submit (self);
  while (sbx_turn_state (turn) != SBX_TURN_STATE_RUNNING)
    g_main_context_iteration (NULL, TRUE);
  sbx_turn_stop (turn, SBX_FAILURE_CANCELLED);
  /* Told before anything is removed. */
  g_assert_cmpuint (self->n_told, ==, 1);
  g_assert_cmpint (sbx_turn_state (turn), ==, SBX_TURN_STATE_FINISHING);
  sbx_turn_stop (turn, SBX_FAILURE_RESTARTED);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_CANCELLED);
  /* Whatever Docker does. */
  g_assert_cmpuint (self->n_killed, ==, 1);
}

static void
test_cancel_queued (TurnFixture *self, gconstpointer data)
{
  sbx_turn_stop (turn_fixture_submit (self), SBX_FAILURE_CANCELLED);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_CANCELLED);
  g_assert_cmpuint (fake_docker_n_requests (self->docker), ==, 0);
}

static void
test_mode_off_while_queued (TurnFixture *self, gconstpointer data)
{
  (void) turn_fixture_submit (self);
  sbx_channel_store_set (self->channels, CHANNEL, FALSE, NULL, NULL);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_MODE_OFF);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REFUSED);
  g_assert_cmpuint (fake_docker_n_requests (self->docker), ==, 0);
}

static void
on_stopped (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
}

static void
test_stop_all (TurnFixture *self, gconstpointer data)
{
  const SbxTurnRequest request = {
    .channel = CHANNEL, .speaker_id = "7", .speaker_name = "Ada", .text = "hi", .uid = 1
  };
  gboolean stopped = FALSE;
  g_autoptr (GError) error = NULL;

  (void) turn_fixture_submit (self);
  sbx_turns_stop (self->turns, on_stopped, &stopped);
  g_assert_null (sbx_turns_submit (self->turns, &request, NULL, &error));
  g_assert_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_SHUTTING_DOWN);
  while (!stopped)
    g_main_context_iteration (NULL, TRUE);
  turn_fixture_run_out (self);
  turn_fixture_assert_failed (self, SBX_FAILURE_RESTARTED);
}

static void
script_whole_turn (TurnFixture *self)
{
  turn_fixture_script_until_start (self, OWN_IMAGE);
  turn_fixture_script_wait_held (self);
  turn_fixture_script_delete (self);
}

/* Wire contract 5: the reply takes the reset that its turn began with, and none that came later. */
static void
test_reset_is_consumed (TurnFixture *self, gconstpointer data)
{
  const SbxTurn *turn;

  turn_fixture_use_broker (self, "reply");
  script_whole_turn (self);
  sbx_turns_start_fresh (self->turns, CHANNEL, NULL, NULL);
  turn = turn_fixture_submit (self);
  if (data != NULL)
    {
      while (sbx_turn_state (turn) == SBX_TURN_STATE_QUEUED)
        g_main_context_iteration (NULL, TRUE);
      sbx_turns_start_fresh (self->turns, CHANNEL, NULL, NULL);
    }
  turn_fixture_run_out (self);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_cmpuint (sbx_resets_generation (self->context.resets, CHANNEL), ==, data != NULL ? 2 : 0);
}

static void
test_reset_stays_where_it_fails (TurnFixture *self, gconstpointer data)
{
  turn_fixture_use_broker (self, "invalid");
  script_whole_turn (self);
  sbx_turns_start_fresh (self->turns, CHANNEL, NULL, NULL);
  (void) turn_fixture_submit (self);
  turn_fixture_run_out (self);
  g_assert_cmpuint (sbx_resets_generation (self->context.resets, CHANNEL), ==, 1);
}

/* What was told is what is kept. */
static void
test_reply_is_recorded (TurnFixture *self, gconstpointer data)
{
  g_autofree char *id = NULL;
  g_autofree char *text = NULL;
  const SbxRecord *record;

  turn_fixture_use_broker (self, "reply");
  script_whole_turn (self);
  id = g_strdup (sbx_turn_id (turn_fixture_submit (self)));
  g_assert_null (sbx_turns_record (self->turns, id));
  turn_fixture_run_out (self);
  turn_fixture_close_state (self);
  turn_fixture_open_state (self);
  record = sbx_turns_record (self->turns, id);
  g_assert_nonnull (record);
  g_assert_cmpint (record->kind, ==, SBX_OUTCOME_REPLIED);
  text = sbx_record_store_text (self->context.records, record);
  g_assert_cmpstr (text, ==, "hello guest");
}

static char *
submit_as (TurnFixture *self, guint32 uid, const char *speaker_id)
{
  const SbxTurnRequest request = {
    .channel = CHANNEL, .speaker_id = speaker_id, .speaker_name = "Ada", .text = "hi", .uid = uid
  };

  return sbx_turns_submit (self->turns, &request, NULL, NULL);
}

/* Said anew: what the same speaker asked the same caller before ends, and nobody else's, nor what came later.
 */
static void
test_replace (TurnFixture *self, gconstpointer data)
{
  g_autofree char *first = submit_as (self, 5, "7");
  g_autofree char *second = submit_as (self, 5, "7");
  g_autofree char *of_another = submit_as (self, 5, "8");
  g_autofree char *by_another = submit_as (self, 6, "7");
  g_autofree char *anew = submit_as (self, 5, "7");
  g_autofree char *later = submit_as (self, 5, "7");

  g_assert_cmpuint (sbx_turns_replace (self->turns, "0123456789abcdef"), ==, 0);
  g_assert_cmpuint (sbx_turns_replace (self->turns, anew), ==, 2);
  g_assert_cmpuint (sbx_turns_n_queued (self->turns), ==, 4);
  g_assert_true (sbx_turns_find (self->turns, first) == NULL && sbx_turns_find (self->turns, second) == NULL);
  g_assert_cmpint (sbx_turns_record (self->turns, second)->failure, ==, SBX_FAILURE_CANCELLED);
  g_assert_true (sbx_turns_find (self->turns, of_another) != NULL
                 && sbx_turns_find (self->turns, by_another) != NULL);
  g_assert_cmpuint (sbx_turns_replace (self->turns, later), ==, 1);
  g_assert_null (sbx_turns_find (self->turns, anew));
  g_assert_cmpuint (sbx_turns_cancel_chosen (self->turns, &(SbxTurnChoice){ .channel = CHANNEL }), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func)                                                                                      \
  g_test_add ("/turn/turn/" name, TurnFixture, NULL, turn_fixture_set_up, func, turn_fixture_tear_down)
  ADD ("reply-at-once", test_reply_at_once);
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *name = g_strdup_printf ("/turn/turn/ending/%zu", i);

      g_test_add (name, TurnFixture, &endings[i], turn_fixture_set_up, test_ending, turn_fixture_tear_down);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (model_failures); i++)
    {
      g_autofree char *name =
        g_strconcat ("/turn/turn/model-failure/", sbx_failure_name (model_failures[i].said), NULL);

      g_test_add (name, TurnFixture, GSIZE_TO_POINTER (i), turn_fixture_set_up, test_model_failure,
                  turn_fixture_tear_down);
    }
  ADD ("invalid-reply", test_invalid_reply);
  ADD ("image-missing", test_image_missing);
  ADD ("docker-down", test_docker_down);
  ADD ("scope-refused", test_scope_refused);
  ADD ("scope-is-refused-once", test_scope_is_tried_again);
  g_test_add ("/turn/turn/scope-name-is-taken", TurnFixture, "taken", turn_fixture_set_up,
              test_scope_is_tried_again, turn_fixture_tear_down);
  ADD ("status-is-unknown", test_status_is_unknown);
  ADD ("key-missing", test_key_missing);
  ADD ("broker-dies", test_broker_dies);
  ADD ("deadline", test_deadline);
  ADD ("cancel-running", test_cancel_running);
  ADD ("cancel-queued", test_cancel_queued);
  ADD ("mode-off-while-queued", test_mode_off_while_queued);
  ADD ("replace", test_replace);
  ADD ("stop-all", test_stop_all);
  ADD ("reset-is-consumed", test_reset_is_consumed);
  g_test_add ("/turn/turn/reset-during-a-turn", TurnFixture, "later", turn_fixture_set_up,
              test_reset_is_consumed, turn_fixture_tear_down);
  ADD ("reset-stays-where-it-fails", test_reset_stays_where_it_fails);
  ADD ("reply-is-recorded", test_reply_is_recorded);
  return g_test_run ();
}
