/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A whole turn against a scripted Docker, a fake egress, a fake broker process and a fake systemd. */
#include "turn/turns.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../container/fake-docker.h"
#include "bus/errors.h"
#include "turn/workspace.h"
#include "fake-egress.h"

#define CHANNEL     "test:1"
#define OWN_IMAGE   "{\"Id\":\"sha256:1\",\"Config\":{\"Labels\":{\"org.roundtable.sandbox.worker\":\"1\"}}}"
#define OTHER_IMAGE "{\"Id\":\"sha256:1\",\"Config\":{\"Labels\":null}}"
#define UPGRADED                                                                                             \
  "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\n"      \
  "Upgrade: tcp\r\n\r\n"
#define WAITING "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

typedef struct {
  char *top;
  FakeDocker *docker;
  FakeEgress *egress;
  SbxTurnContext context;
  SbxChannelStore *channels;
  SbxStateDir *state;
  SbxTurns *turns;
  gboolean scope_refused;
  guint n_killed;
  guint n_told;
  SbxOutcome outcome;
} Fixture;

static void
fake_scope_start (gpointer self, const SbxScopeSpec *spec, GCancellable *cancellable,
                  GAsyncReadyCallback callback, gpointer user_data)
{
  Fixture *fixture = self;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, callback, user_data);

  g_assert_true (g_str_has_prefix (spec->name, "sandboxd-turn-"));
  g_assert_cmpint (spec->pid, >, 0);
  if (fixture->scope_refused)
    g_task_return_new_error (task, SBX_UNITS_ERROR, SBX_UNITS_ERROR_DENIED, "Access denied");
  else
    g_task_return_boolean (task, TRUE);
}

static gboolean
fake_scope_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
fake_scope_kill (gpointer self, const char *unit)
{
  Fixture *fixture = self;

  g_assert_cmpstr (unit, ==, "docker-abc.scope");
  fixture->n_killed++;
}

static const SbxScopeMaker fake_scopes = { fake_scope_start, fake_scope_finish, fake_scope_kill };

/* What a daemon opens when it starts. */
static void
open_state (Fixture *self)
{
  g_autofree char *state = g_build_filename (self->top, "state", NULL);
  g_autofree char *records = g_build_filename (self->top, "state", "turns", NULL);
  g_autoptr (GError) error = NULL;

  self->state = sbx_state_dir_open (state, &error);
  g_assert_no_error (error);
  self->context.resets = sbx_resets_open (self->state, "resets.json", &error);
  g_assert_no_error (error);
  self->context.records = sbx_record_store_open (records, &error);
  g_assert_no_error (error);
  self->turns = sbx_turns_new (&self->context, self->channels, NULL, NULL);
}

static void
close_state (Fixture *self)
{
  g_clear_pointer (&self->turns, sbx_turns_free);
  g_clear_pointer (&self->context.records, sbx_record_store_free);
  g_clear_pointer (&self->context.resets, sbx_resets_free);
  g_clear_pointer (&self->state, sbx_state_dir_free);
}

static void
set_up (Fixture *self, gconstpointer data)
{
  g_autofree char *channels = NULL;
  const char *const initial[] = { CHANNEL, NULL };
  g_autoptr (GError) error = NULL;

  self->top = g_dir_make_tmp ("sbx-turn-XXXXXX", NULL);
  channels = g_build_filename (self->top, "state", "channels.json", NULL);
  self->docker = fake_docker_new ();
  self->egress = fake_egress_new ();
  self->context.settings = sbx_settings_load (self->top, NULL, &error);
  g_assert_no_error (error);
  self->context.tools = sbx_turn_tools_new (self->context.settings->tools);
  self->context.engine = sbx_engine_new (fake_docker_path (self->docker));
  self->context.egress = sbx_egress_client_new (fake_egress_path (self->egress));
  self->context.reaper = sbx_reaper_new (self->context.engine, NULL, NULL);
  self->context.scopes = &fake_scopes;
  self->context.scopes_self = self;
  self->context.installation = g_strdup ("0123456789abcdef0123456789abcdef");
  self->context.run_root = g_build_filename (self->top, "run", NULL);
  self->context.workspaces_root = g_build_filename (self->top, "work", NULL);
  self->context.worker_uid = 1000;
  self->context.worker_gid = getgid () != 0 ? getgid () : 1000;
  g_assert_no_errno (g_mkdir (self->context.run_root, 0700));
  g_assert_true (sbx_workspace_check_root (self->context.workspaces_root, NULL));
  self->channels = sbx_channel_store_open (channels, initial, &error);
  g_assert_no_error (error);
  open_state (self);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *below = g_build_filename (path, name, NULL);

      remove_tree (below);
    }
  (void) g_remove (path);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  close_state (self);
  sbx_channel_store_free (self->channels);
  sbx_reaper_free (self->context.reaper);
  sbx_egress_client_free (self->context.egress);
  sbx_engine_unref (self->context.engine);
  g_ptr_array_unref (self->context.tools);
  sbx_settings_free (self->context.settings);
  g_free (self->context.installation);
  g_free (self->context.run_root);
  g_free (self->context.workspaces_root);
  g_free (self->context.broker_program);
  sbx_outcome_clear (&self->outcome);
  fake_docker_free (self->docker);
  fake_egress_free (self->egress);
  remove_tree (self->top);
  g_free (self->top);
}

/* The broker that is told by its name what to do. */
static void
use_broker (Fixture *self, const char *mode)
{
  self->context.broker_program = g_build_filename (self->top, mode, NULL);
  g_assert_no_errno (symlink (g_getenv ("FAKE_BROKER"), self->context.broker_program));
}

static void
on_told (const char *id, const SbxOutcome *outcome, gpointer user_data)
{
  Fixture *self = user_data;

  self->n_told++;
  sbx_outcome_clear (&self->outcome);
  if (outcome == NULL)
    return;
  self->outcome = *outcome;
  self->outcome.text = g_strdup (outcome->text);
}

static SbxTurn *
submit (Fixture *self)
{
  const SbxTurnRequest request = {
    .channel = CHANNEL, .speaker_id = "7", .speaker_name = "Ada", .text = "hi", .uid = 1
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *id = sbx_turns_submit (self->turns, &request, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (sbx_turns_wait (self->turns, id, on_told, self, NULL));
  return sbx_turns_find (self->turns, id);
}

/* Runs until nothing of any turn is left to do. */
static void
run_out (Fixture *self)
{
  g_autofree char *name = NULL;
  g_autoptr (GDir) directory = NULL;

  while (sbx_turns_n_running (self->turns) + sbx_turns_n_queued (self->turns) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (self->n_told, ==, 1);
  directory = g_dir_open (self->context.run_root, 0, NULL);
  g_assert_null (g_dir_read_name (directory));
  g_assert_cmpuint (sbx_reaper_n_left (self->context.reaper), ==, 0);
}

static void
script_until_start (Fixture *self, const char *image)
{
  fake_docker_add_json (self->docker, "GET /v1.41/images/", 200, image);
  fake_docker_add_json (self->docker, "POST /v1.41/containers/create?name=roundtable-sandbox-", 201,
                        "{\"Id\":\"abc\",\"Warnings\":[]}");
  fake_docker_add (self->docker, "POST /v1.41/containers/roundtable-sandbox-", UPGRADED, -1, FAKE_HOLD);
  fake_docker_add (self->docker, "POST /v1.41/containers/roundtable-sandbox-",
                   "HTTP/1.1 204 No Content\r\n\r\n", -1, FAKE_CLOSE);
}

static void
script_delete (Fixture *self)
{
  fake_docker_add (self->docker, "DELETE /v1.41/containers/roundtable-sandbox-",
                   "HTTP/1.1 204 No Content\r\n\r\n", -1, FAKE_CLOSE);
}

static void
script_wait_held (Fixture *self)
{
  fake_docker_add (self->docker, "POST /v1.41/containers/roundtable-sandbox-", WAITING, -1, FAKE_HOLD);
}

static void
assert_failed (Fixture *self, SbxFailure failure)
{
  g_assert_cmpstr (sbx_failure_name (self->outcome.failure), ==, sbx_failure_name (failure));
  g_assert_cmpint (self->outcome.kind, ==, sbx_outcome_kind_of (failure));
}

static void
test_reply_at_once (Fixture *self, gconstpointer data)
{
  use_broker (self, "reply");
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  script_delete (self);
  (void) submit (self);
  run_out (self);
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
test_ending (Fixture *self, gconstpointer data)
{
  const Ending *ending = data;
  g_autofree char *waited = g_strdup_printf ("{\"StatusCode\":%d}", ending->exit_status);

  use_broker (self, ending->broker);
  script_until_start (self, ending->image);
  fake_docker_add_json (self->docker, "POST /v1.41/containers/roundtable-sandbox-", 200, waited);
  if (ending->inspect != NULL)
    fake_docker_add_json (self->docker, "GET /v1.41/containers/roundtable-sandbox-", 200, ending->inspect);
  script_delete (self);
  (void) submit (self);
  run_out (self);
  if (ending->failure != SBX_FAILURE_NONE)
    assert_failed (self, ending->failure);
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
test_model_failure (Fixture *self, gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  g_autofree char *mode = g_strdup_printf ("audit-%d", (int) model_failures[i].said);

  use_broker (self, mode);
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  fake_docker_add_json (self->docker, "GET /v1.41/containers/roundtable-sandbox-", 200, STATE ("false", "1"));
  script_delete (self);
  (void) submit (self);
  run_out (self);
  assert_failed (self, model_failures[i].failure);
}

static void
test_invalid_reply (Fixture *self, gconstpointer data)
{
  use_broker (self, "invalid");
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  script_delete (self);
  (void) submit (self);
  run_out (self);
  assert_failed (self, SBX_FAILURE_REPLY_INVALID);
}

static void
test_image_missing (Fixture *self, gconstpointer data)
{
  use_broker (self, "reply");
  fake_docker_add_json (self->docker, "GET /v1.41/images/", 404, "{\"message\":\"No such image: x\"}");
  (void) submit (self);
  run_out (self);
  assert_failed (self, SBX_FAILURE_IMAGE_MISSING);
  g_assert_cmpuint (fake_egress_n_announced (self->egress), ==, 0);
}

static void
test_docker_down (Fixture *self, gconstpointer data)
{
  use_broker (self, "reply");
  g_clear_pointer (&self->context.reaper, sbx_reaper_free);
  sbx_engine_unref (self->context.engine);
  self->context.engine = sbx_engine_new ("/nonexistent");
  self->context.reaper = sbx_reaper_new (self->context.engine, NULL, NULL);
  (void) submit (self);
  run_out (self);
  assert_failed (self, SBX_FAILURE_DOCKER_DOWN);
}

/* The creation under way is waited for, then undone. */
static void
test_scope_refused (Fixture *self, gconstpointer data)
{
  use_broker (self, "reply");
  self->scope_refused = TRUE;
  fake_docker_add_json (self->docker, "GET /v1.41/images/", 200, OWN_IMAGE);
  fake_docker_add_json (self->docker, "POST /v1.41/containers/create", 201,
                        "{\"Id\":\"abc\",\"Warnings\":[]}");
  script_delete (self);
  (void) submit (self);
  run_out (self);
  assert_failed (self, SBX_FAILURE_SCOPE_REFUSED);
}

static void
test_key_missing (Fixture *self, gconstpointer data)
{
  use_broker (self, "reply");
  fake_egress_answer_announce (self->egress, SBX_FAILURE_KEY_MISSING);
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  script_delete (self);
  (void) submit (self);
  run_out (self);
  assert_failed (self, SBX_FAILURE_KEY_MISSING);
}

static void
test_broker_dies (Fixture *self, gconstpointer data)
{
  use_broker (self, "dies");
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  script_delete (self);
  (void) submit (self);
  run_out (self);
  assert_failed (self, SBX_FAILURE_BROKER_FAILED);
}

static void
test_deadline (Fixture *self, gconstpointer data)
{
  use_broker (self, "silent");
  self->context.settings->config->deadline_usec = 300 * 1000;
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  script_delete (self);
  (void) submit (self);
  run_out (self);
  assert_failed (self, SBX_FAILURE_DEADLINE);
}

static void
test_cancel_running (Fixture *self, gconstpointer data)
{
  SbxTurn *turn;

  use_broker (self, "silent");
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  script_delete (self);
  turn = submit (self);
  while (sbx_turn_state (turn) != SBX_TURN_STATE_RUNNING)
    g_main_context_iteration (NULL, TRUE);
  sbx_turn_stop (turn, SBX_FAILURE_CANCELLED);
  /* Told before anything is removed. */
  g_assert_cmpuint (self->n_told, ==, 1);
  g_assert_cmpint (sbx_turn_state (turn), ==, SBX_TURN_STATE_FINISHING);
  sbx_turn_stop (turn, SBX_FAILURE_RESTARTED);
  run_out (self);
  assert_failed (self, SBX_FAILURE_CANCELLED);
  /* Whatever Docker does. */
  g_assert_cmpuint (self->n_killed, ==, 1);
}

static void
test_cancel_queued (Fixture *self, gconstpointer data)
{
  sbx_turn_stop (submit (self), SBX_FAILURE_CANCELLED);
  run_out (self);
  assert_failed (self, SBX_FAILURE_CANCELLED);
  g_assert_cmpuint (fake_docker_n_requests (self->docker), ==, 0);
}

static void
test_mode_off_while_queued (Fixture *self, gconstpointer data)
{
  (void) submit (self);
  g_assert_true (sbx_channel_store_set (self->channels, CHANNEL, FALSE, NULL));
  run_out (self);
  assert_failed (self, SBX_FAILURE_MODE_OFF);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REFUSED);
  g_assert_cmpuint (fake_docker_n_requests (self->docker), ==, 0);
}

static void
on_stopped (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
}

static void
test_stop_all (Fixture *self, gconstpointer data)
{
  const SbxTurnRequest request = {
    .channel = CHANNEL, .speaker_id = "7", .speaker_name = "Ada", .text = "hi", .uid = 1
  };
  gboolean stopped = FALSE;
  g_autoptr (GError) error = NULL;

  (void) submit (self);
  sbx_turns_stop (self->turns, on_stopped, &stopped);
  g_assert_null (sbx_turns_submit (self->turns, &request, NULL, &error));
  g_assert_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_SHUTTING_DOWN);
  while (!stopped)
    g_main_context_iteration (NULL, TRUE);
  run_out (self);
  assert_failed (self, SBX_FAILURE_RESTARTED);
}

static void
script_whole_turn (Fixture *self)
{
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  script_delete (self);
}

/* Wire contract 5: the reply takes the reset that its turn began with, and none that came later. */
static void
test_reset_is_consumed (Fixture *self, gconstpointer data)
{
  const SbxTurn *turn;

  use_broker (self, "reply");
  script_whole_turn (self);
  g_assert_true (sbx_turns_start_fresh (self->turns, CHANNEL, NULL));
  turn = submit (self);
  if (data != NULL)
    {
      while (sbx_turn_state (turn) == SBX_TURN_STATE_QUEUED)
        g_main_context_iteration (NULL, TRUE);
      g_assert_true (sbx_turns_start_fresh (self->turns, CHANNEL, NULL));
    }
  run_out (self);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_cmpuint (sbx_resets_generation (self->context.resets, CHANNEL), ==, data != NULL ? 2 : 0);
}

static void
test_reset_stays_where_it_fails (Fixture *self, gconstpointer data)
{
  use_broker (self, "invalid");
  script_whole_turn (self);
  g_assert_true (sbx_turns_start_fresh (self->turns, CHANNEL, NULL));
  (void) submit (self);
  run_out (self);
  g_assert_cmpuint (sbx_resets_generation (self->context.resets, CHANNEL), ==, 1);
}

/* What was told is what is kept. */
static void
test_reply_is_recorded (Fixture *self, gconstpointer data)
{
  g_autofree char *id = NULL;
  g_autofree char *text = NULL;
  const SbxRecord *record;

  use_broker (self, "reply");
  script_whole_turn (self);
  id = g_strdup (sbx_turn_id (submit (self)));
  g_assert_null (sbx_turns_record (self->turns, id));
  run_out (self);
  close_state (self);
  open_state (self);
  record = sbx_turns_record (self->turns, id);
  g_assert_nonnull (record);
  g_assert_cmpint (record->kind, ==, SBX_OUTCOME_REPLIED);
  text = sbx_record_store_text (self->context.records, record);
  g_assert_cmpstr (text, ==, "hello guest");
}

/* Docker does not remove it: told all the same, the place is free, and the reaper has it. */
static void
test_removal_fails (Fixture *self, gconstpointer data)
{
  use_broker (self, "reply");
  script_until_start (self, OWN_IMAGE);
  script_wait_held (self);
  for (guint i = 0; i < 3; i++)
    fake_docker_add_json (self->docker, "DELETE /v1.41/containers/roundtable-sandbox-", 500,
                          "{\"message\":\"busy\"}");
  (void) submit (self);
  while (sbx_turns_n_running (self->turns) + sbx_turns_n_queued (self->turns) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (self->outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_cmpuint (sbx_reaper_n_left (self->context.reaper), ==, 1);
  script_delete (self);
  while (sbx_reaper_n_left (self->context.reaper) > 0)
    g_main_context_iteration (NULL, TRUE);
  run_out (self);
}

/* A creation that was never answered: looked for again, and no leftover for anybody to worry about. */
static void
test_suspect (Fixture *self, gconstpointer data)
{
  script_delete (self);
  sbx_reaper_suspect (self->context.reaper, "t1", "roundtable-sandbox-0-0");
  g_assert_cmpuint (sbx_reaper_n_left (self->context.reaper), ==, 0);
  while (fake_docker_n_requests (self->docker) == 0)
    g_main_context_iteration (NULL, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add ("/turn/turn/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("reply-at-once", test_reply_at_once);
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *name = g_strdup_printf ("/turn/turn/ending/%zu", i);

      g_test_add (name, Fixture, &endings[i], set_up, test_ending, tear_down);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (model_failures); i++)
    {
      g_autofree char *name =
        g_strconcat ("/turn/turn/model-failure/", sbx_failure_name (model_failures[i].said), NULL);

      g_test_add (name, Fixture, GSIZE_TO_POINTER (i), set_up, test_model_failure, tear_down);
    }
  ADD ("invalid-reply", test_invalid_reply);
  ADD ("image-missing", test_image_missing);
  ADD ("docker-down", test_docker_down);
  ADD ("scope-refused", test_scope_refused);
  ADD ("key-missing", test_key_missing);
  ADD ("broker-dies", test_broker_dies);
  ADD ("deadline", test_deadline);
  ADD ("cancel-running", test_cancel_running);
  ADD ("cancel-queued", test_cancel_queued);
  ADD ("mode-off-while-queued", test_mode_off_while_queued);
  ADD ("stop-all", test_stop_all);
  ADD ("reset-is-consumed", test_reset_is_consumed);
  g_test_add ("/turn/turn/reset-during-a-turn", Fixture, "later", set_up, test_reset_is_consumed, tear_down);
  ADD ("reset-stays-where-it-fails", test_reset_stays_where_it_fails);
  ADD ("reply-is-recorded", test_reply_is_recorded);
  ADD ("removal-fails", test_removal_fails);
  ADD ("suspect", test_suspect);
  return g_test_run ();
}
