/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn-fixture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../remove-tree.h"
#include "turn/workspace.h"

#define UPGRADED                                                                                             \
  "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\n"      \
  "Upgrade: tcp\r\n\r\n"
#define WAITING "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

static void
fake_scope_start (gpointer self, const SbxScopeSpec *spec, GCancellable *cancellable,
                  GAsyncReadyCallback callback, gpointer user_data)
{
  TurnFixture *fixture = self;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, callback, user_data);

  g_assert_true (g_str_has_prefix (spec->name, "sandboxd-turn-"));
  g_assert_cmpint (spec->pid, >, 0);
  if (fixture->scope_is_late)
    fixture->late_scope = g_steal_pointer (&task);
  else if (fixture->n_names_taken > 0)
    {
      fixture->n_names_taken--;
      g_task_return_new_error (task, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NAME_TAKEN, "Unit exists");
    }
  else if (fixture->n_scopes_refused > 0)
    {
      fixture->n_scopes_refused--;
      g_task_return_new_error (task, SBX_UNITS_ERROR, SBX_UNITS_ERROR_DENIED, "Access denied");
    }
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
  TurnFixture *fixture = self;

  g_assert_cmpstr (unit, ==, "docker-abc.scope");
  fixture->n_killed++;
}

static void
fake_scope_stop (gpointer self, const char *unit)
{
  TurnFixture *fixture = self;

  g_assert_true (g_str_has_prefix (unit, "sandboxd-turn-") && g_str_has_suffix (unit, "-broker.scope"));
  fixture->n_stopped++;
}

static const SbxScopeMaker fake_scopes = { fake_scope_start, fake_scope_finish, fake_scope_kill,
                                           fake_scope_stop };

/* What a daemon opens when it starts. */
void
turn_fixture_open_state (TurnFixture *self)
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

void
turn_fixture_close_state (TurnFixture *self)
{
  g_clear_pointer (&self->turns, sbx_turns_free);
  g_clear_pointer (&self->context.records, sbx_record_store_free);
  g_clear_pointer (&self->context.resets, sbx_resets_free);
  g_clear_pointer (&self->state, sbx_state_dir_free);
}

void
turn_fixture_set_up (TurnFixture *self, gconstpointer data)
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
  self->context.images = sbx_image_watch_new (self->context.engine, NULL, NULL);
  self->context.egress = sbx_egress_client_new (fake_egress_path (self->egress));
  self->context.rest = sbx_rest_new (SBX_REST_QUIET_USEC, SBX_REST_MAX_USEC);
  self->context.reaper = sbx_reaper_new (self->context.engine, NULL, NULL);
  self->context.sandboxes = g_hash_table_new (g_str_hash, g_str_equal);
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
  turn_fixture_open_state (self);
}

void
turn_fixture_tear_down (TurnFixture *self, gconstpointer data)
{
  turn_fixture_close_state (self);
  sbx_channel_store_free (self->channels);
  g_assert_cmpuint (g_hash_table_size (self->context.sandboxes), ==, 0);
  sbx_turn_context_clear (&self->context);
  sbx_outcome_clear (&self->outcome);
  fake_docker_free (self->docker);
  fake_egress_free (self->egress);
  remove_tree (self->top);
  g_free (self->top);
}

/* The broker that is told by its name what to do. */
void
turn_fixture_use_broker (TurnFixture *self, const char *mode)
{
  self->context.broker_program = g_build_filename (self->top, mode, NULL);
  g_assert_no_errno (symlink (g_getenv ("FAKE_BROKER"), self->context.broker_program));
}

gboolean
turn_fixture_read_input (TurnFixture *self, GString *input)
{
  char piece[4096];
  ssize_t got;

  while ((got = recv (fake_docker_fd (self->docker, ATTACHED), piece, sizeof piece, MSG_DONTWAIT)) > 0)
    if (input != NULL)
      g_string_append_len (input, piece, got);
  return got == 0;
}

static void
on_told (const char *id, const SbxOutcome *outcome, gpointer user_data)
{
  TurnFixture *self = user_data;

  self->n_told++;
  sbx_outcome_clear (&self->outcome);
  if (outcome == NULL)
    return;
  self->outcome = *outcome;
  self->outcome.text = g_strdup (outcome->text);
}

SbxTurn *
turn_fixture_submit (TurnFixture *self)
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
void
turn_fixture_run_out (TurnFixture *self)
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

void
turn_fixture_script_made (TurnFixture *self)
{
  fake_docker_add_json (self->docker, "POST /v1.41/containers/create?name=roundtable-sandbox-", 201,
                        "{\"Id\":\"abc\",\"Warnings\":[]}");
  fake_docker_add (self->docker, "POST /v1.41/containers/roundtable-sandbox-*/attach?", UPGRADED, -1,
                   FAKE_HOLD);
  fake_docker_add (self->docker, "POST /v1.41/containers/roundtable-sandbox-*/start",
                   "HTTP/1.1 204 No Content\r\n\r\n", -1, FAKE_CLOSE);
}

void
turn_fixture_script_until_start (TurnFixture *self, const char *image)
{
  fake_docker_add_json (self->docker, "GET /v1.41/images/", 200, image);
  turn_fixture_script_made (self);
}

void
turn_fixture_script_delete (TurnFixture *self)
{
  fake_docker_add (self->docker, "DELETE /v1.41/containers/roundtable-sandbox-",
                   "HTTP/1.1 204 No Content\r\n\r\n", -1, FAKE_CLOSE | FAKE_ANY_TIME);
}

void
turn_fixture_script_wait_held (TurnFixture *self)
{
  fake_docker_add (self->docker, "POST /v1.41/containers/roundtable-sandbox-*/wait?", WAITING, -1,
                   FAKE_HOLD | FAKE_ANY_TIME | FAKE_PERHAPS);
}

void
turn_fixture_worker_ends (TurnFixture *self, guint n)
{
  static const char text[] = "12\r\n{\"StatusCode\":137}\r\n0\r\n\r\n";

  g_assert_cmpint (send (fake_docker_fd (self->docker, n), text, strlen (text), MSG_NOSIGNAL), >, 0);
}

void
turn_fixture_assert_failed (TurnFixture *self, SbxFailure failure)
{
  g_assert_cmpstr (sbx_failure_name (self->outcome.failure), ==, sbx_failure_name (failure));
  g_assert_cmpint (self->outcome.kind, ==, sbx_outcome_kind_of (failure));
}
