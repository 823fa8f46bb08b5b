/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The registry of turns where Docker is down: what is taken, in which order it ends, what is kept, and what
 * comes back after a restart. */
#include "turn/turns.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "../remove-tree.h"
#include "bus/errors.h"
#include "slow-disk.h"
#include "turn/workspace.h"

typedef struct {
  char *top;
  SbxTurnContext context;
  SbxChannelStore *channels;
  SbxStateDir *state;
  SbxTurns *turns;
  GString *told; /* "NAME=outcome " for each */
  GHashTable *names;
} Fixture;

/* The daemon starts. */
static void
open_state (Fixture *self)
{
  g_autofree char *state = g_build_filename (self->top, "state", NULL);
  g_autofree char *channels = g_build_filename (state, "channels.json", NULL);
  g_autofree char *records = g_build_filename (state, "turns", NULL);
  const char *const initial[] = { "a:1", "a:2", NULL };

  self->channels = sbx_channel_store_open (channels, initial, NULL);
  self->state = sbx_state_dir_open (state, NULL);
  self->context.resets = sbx_resets_open (self->state, "resets.json", NULL);
  self->context.records = sbx_record_store_open (records, NULL);
  g_assert_true (self->channels != NULL && self->context.resets != NULL && self->context.records != NULL);
  self->turns = sbx_turns_new (&self->context, self->channels, NULL, NULL);
  sbx_turns_restore (self->turns);
}

/* It is gone, at once. */
static void
close_state (Fixture *self)
{
  g_clear_pointer (&self->turns, sbx_turns_free);
  g_clear_pointer (&self->context.records, sbx_record_store_free);
  g_clear_pointer (&self->context.resets, sbx_resets_free);
  g_clear_pointer (&self->state, sbx_state_dir_free);
  g_clear_pointer (&self->channels, sbx_channel_store_free);
}

static void
set_up (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  self->top = g_dir_make_tmp ("sbx-turns-XXXXXX", NULL);
  self->told = g_string_new (NULL);
  self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->context.settings = sbx_settings_load (self->top, NULL, &error);
  g_assert_no_error (error);
  self->context.settings->config->min_free_bytes = 0;
  self->context.tools = g_ptr_array_new ();
  self->context.sandboxes = g_hash_table_new (g_str_hash, g_str_equal);
  self->context.engine = sbx_engine_new ("/nonexistent");
  self->context.images = sbx_image_watch_new (self->context.engine, NULL, NULL);
  self->context.egress = sbx_egress_client_new ("/nonexistent");
  self->context.rest = sbx_rest_new (SBX_REST_QUIET_USEC, SBX_REST_MAX_USEC);
  self->context.reaper = sbx_reaper_new (self->context.engine, NULL, NULL);
  self->context.run_root = g_build_filename (self->top, "run", NULL);
  self->context.workspaces_root = g_build_filename (self->top, "work", NULL);
  self->context.worker_gid = getgid () != 0 ? getgid () : 1000;
  g_assert_no_errno (g_mkdir (self->context.run_root, 0700));
  g_assert_true (sbx_workspace_check_root (self->context.workspaces_root, NULL));
  open_state (self);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  close_state (self);
  sbx_turn_context_clear (&self->context);
  g_string_free (self->told, TRUE);
  g_hash_table_unref (self->names);
  remove_tree (self->top);
  g_free (self->top);
}

static void
on_told (const char *id, const SbxOutcome *outcome, gpointer user_data)
{
  Fixture *self = user_data;
  const char *name = g_hash_table_lookup (self->names, id);
  const char *what = "later";

  if (outcome != NULL)
    what = outcome->kind == SBX_OUTCOME_REPLIED ? "replied" : sbx_failure_name (outcome->failure);
  g_string_append_printf (self->told, "%s=%s ", name != NULL ? name : id, what);
}

static void
wait_for (Fixture *self, const char *id)
{
  g_autoptr (GError) error = NULL;

  g_assert_nonnull (sbx_turns_wait (self->turns, id, on_told, self, &error));
  g_assert_no_error (error);
}

static SbxTurnRequest
make_request (const char *channel, const char *message_id)
{
  return (SbxTurnRequest){ .channel = channel,
                           .speaker_id = "7",
                           .speaker_name = "Ada",
                           .text = "hi",
                           .message_id = message_id,
                           .uid = 5,
                           .detached = message_id != NULL };
}

/* Asks for a turn that goes by this name in what is told. */
static const char *
submit (Fixture *self, const char *name, const char *channel, const char *message_id)
{
  SbxTurnRequest request = make_request (channel, message_id);
  g_autoptr (GError) error = NULL;
  char *id = sbx_turns_submit (self->turns, &request, NULL, &error);

  g_assert_no_error (error);
  g_hash_table_insert (self->names, id, g_strdup (name));
  wait_for (self, id);
  return id;
}

static void
run_out (Fixture *self)
{
  sbx_turns_go (self->turns);
  while (sbx_turns_n_running (self->turns) + sbx_turns_n_queued (self->turns)
           + sbx_turns_n_changes (self->turns)
         > 0)
    g_main_context_iteration (NULL, TRUE);
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
assert_refused (Fixture *self, const SbxTurnRequest *request, GQuark domain, int code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (sbx_turns_submit (self->turns, request, NULL, &error));
  g_assert_error (error, domain, code);
}

static void
test_message_id (Fixture *self, gconstpointer data)
{
  SbxTurnRequest request = make_request ("a:1", "m1");
  g_autofree char *id = g_strdup (submit (self, "A", "a:1", "m1"));
  g_autofree char *again = NULL;
  g_autofree char *after = NULL;
  g_autofree char *restarted = NULL;
  g_autofree char *other = NULL;
  gboolean known = FALSE;

  again = sbx_turns_submit (self->turns, &request, &known, NULL);
  g_assert_cmpstr (again, ==, id);
  g_assert_true (known);
  wait_for (self, id);
  run_out (self);
  g_assert_cmpstr (self->told->str, ==, "A=docker-down A=docker-down ");
  after = sbx_turns_submit (self->turns, &request, &known, NULL);
  g_assert_cmpstr (after, ==, id);
  close_state (self);
  open_state (self);
  restarted = sbx_turns_submit (self->turns, &request, &known, NULL);
  g_assert_cmpstr (restarted, ==, id);
  g_assert_true (known);
  wait_for (self, id);
  run_out (self);
  g_assert_cmpstr (self->told->str, ==, "A=docker-down A=docker-down A=docker-down ");
  /* It is one user's own. */
  request.uid = 6;
  other = sbx_turns_submit (self->turns, &request, &known, NULL);
  g_assert_cmpstr (other, !=, id);
  g_assert_false (known);
  run_out (self);
}

static void
test_unknown_turn (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  guint32 uid;

  g_assert_null (sbx_turns_wait (self->turns, "nothing", on_told, self, &error));
  g_assert_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_NO_SUCH_TURN);
  g_assert_false (sbx_turns_cancel (self->turns, "nothing"));
  g_assert_false (sbx_turns_uid_of (self->turns, "nothing", &uid));
}

static void
test_waits_are_bounded (Fixture *self, gconstpointer data)
{
  const char *id = submit (self, "A", "a:1", NULL);
  g_autoptr (GError) error = NULL;
  SbxTurnWait *one = NULL;

  for (guint i = 1; i < SBX_TURNS_MAX_WAITS; i++)
    one = sbx_turns_wait (self->turns, id, on_told, self, NULL);
  g_assert_null (sbx_turns_wait (self->turns, id, on_told, self, &error));
  g_assert_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_TOO_BUSY);
  sbx_turn_wait_cancel (one);
  wait_for (self, id);
}

/* SIGKILL, as far as the state knows: what was not started waits again, the rest is told when asked for. */
static void
test_back_after_a_restart (Fixture *self, gconstpointer data)
{
  g_autofree char *attached = NULL;

  (void) submit (self, "A", "a:1", "m1");
  attached = g_strdup (submit (self, "B", "a:1", NULL));
  (void) submit (self, "C", "a:1", "m3");
  (void) submit (self, "D", "a:2", "m3");
  close_state (self);
  open_state (self);
  g_assert_cmpuint (sbx_turns_n_queued (self->turns), ==, 3);
  g_assert_cmpint (sbx_turns_record (self->turns, attached)->failure, ==, SBX_FAILURE_RESTARTED);
  wait_for (self, sbx_turns_find_message (self->turns, 5, "a:1", "m1"));
  wait_for (self, sbx_turns_find_message (self->turns, 5, "a:1", "m3"));
  wait_for (self, attached);
  run_out (self);
  g_assert_nonnull (strstr (self->told->str, "B=restarted "));
  g_assert_nonnull (strstr (self->told->str, "C=docker-down "));
  g_assert_true (strstr (self->told->str, "A=docker-down ") < strstr (self->told->str, "C=docker-down "));
  close_state (self);
  open_state (self);
  g_assert_cmpuint (sbx_turns_n_queued (self->turns), ==, 0);
}

static void
test_started_never_again (Fixture *self, gconstpointer data)
{
  g_autofree char *id = g_strdup (submit (self, "A", "a:1", "m1"));

  g_assert_true (sbx_record_store_start (self->context.records, id, NULL));
  close_state (self);
  open_state (self);
  g_assert_cmpuint (sbx_turns_n_queued (self->turns), ==, 0);
  g_assert_cmpint (sbx_turns_record (self->turns, id)->failure, ==, SBX_FAILURE_RESTARTED);
}

static void
on_stopped (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
}

static void
on_mode (const GError *error, gpointer user_data)
{
  Fixture *self = user_data;

  g_string_append (self->told, error != NULL ? "mode=error " : "mode ");
}

static void
test_stop_keeps_the_detached (Fixture *self, gconstpointer data)
{
  gboolean stopped = FALSE;

  (void) submit (self, "A", "a:1", NULL);
  (void) submit (self, "B", "a:1", "m2");
  g_assert_true (sbx_turns_set_mode (self->turns, "a:1", FALSE, 0, on_mode, self, NULL));
  g_assert_false (sbx_turns_is_stopping (self->turns));
  sbx_turns_stop (self->turns, on_stopped, &stopped);
  g_assert_true (sbx_turns_is_stopping (self->turns));
  g_assert_null (sbx_turns_find_message (self->turns, 5, "a:1", "m2"));
  g_assert_cmpstr (self->told->str, ==, "A=restarted B=later mode=error ");
  while (!stopped)
    g_main_context_iteration (NULL, TRUE);
  close_state (self);
  open_state (self);
  g_assert_true (sbx_channel_store_has (self->channels, "a:1"));
  g_assert_cmpuint (sbx_turns_n_queued (self->turns), ==, 1);
  wait_for (self, sbx_turns_find_message (self->turns, 5, "a:1", "m2"));
  run_out (self);
  g_assert_nonnull (strstr (self->told->str, "B=docker-down "));
}

static void
test_mode_is_queued (Fixture *self, gconstpointer data)
{
  (void) submit (self, "A", "a:1", NULL);
  g_assert_true (sbx_turns_set_mode (self->turns, "a:1", FALSE, 0, on_mode, self, NULL));
  (void) submit (self, "B", "a:1", NULL);
  g_assert_cmpuint (sbx_turns_n_changes (self->turns), ==, 1);
  g_assert_true (sbx_channel_store_has (self->channels, "a:1"));
  run_out (self);
  g_assert_cmpstr (self->told->str, ==, "A=docker-down mode B=mode-off ");
  g_assert_false (sbx_channel_store_has (self->channels, "a:1"));
  g_assert_true (sbx_turns_set_mode (self->turns, "a:1", TRUE, 0, on_mode, self, NULL));
  run_out (self);
  g_assert_true (sbx_channel_store_has (self->channels, "a:1"));
}

/* While the disk stands still, nobody is told what is not on it, a channel's turns wait behind its change,
 * and all others run. A stop waits until it is told. */
static void
test_slow_disk (Fixture *self, gconstpointer data)
{
  gboolean stopped = FALSE;

  sbx_turns_go (self->turns);
  slow_disk_stop ();
  g_assert_true (sbx_turns_set_mode (self->turns, "a:1", FALSE, 0, on_mode, self, NULL));
  (void) submit (self, "A", "a:1", "m1");
  (void) submit (self, "B", "a:2", "m2");
  sbx_turns_start_fresh (self->turns, "a:1", on_mode, self);
  while (sbx_turns_n_running (self->turns) + sbx_turns_n_queued (self->turns) > 1)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (self->told->str, ==, "B=docker-down ");
  sbx_turns_stop (self->turns, on_stopped, &stopped);
  for (guint i = 0; i < 100; i++)
    g_main_context_iteration (NULL, FALSE);
  g_assert_cmpstr (self->told->str, ==, "B=docker-down A=later ");
  g_assert_false (stopped);
  slow_disk_go ();
  while (!stopped)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (self->told->str, ==, "B=docker-down A=later mode mode ");
}

static void
test_mode_changes_are_bounded (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 16; i++)
    g_assert_true (sbx_turns_set_mode (self->turns, "a:1", FALSE, 0, NULL, NULL, NULL));
  g_assert_false (sbx_turns_set_mode (self->turns, "a:1", FALSE, 0, NULL, NULL, &error));
  g_assert_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_QUEUE_FULL);
}

static void
test_refusals (Fixture *self, gconstpointer data)
{
  SbxConfig *config = self->context.settings->config;
  g_autofree char *long_id = g_strnfill (257, 'x');
  SbxTurnRequest request = make_request ("a:3", NULL);

  assert_refused (self, &request, SBX_BUS_ERROR, SBX_BUS_ERROR_NOT_SANDBOXED);
  request = make_request ("a:1", "");
  assert_refused (self, &request, SBX_BUS_ERROR, SBX_BUS_ERROR_INVALID_OPTION);
  request = make_request ("a:1", long_id);
  assert_refused (self, &request, SBX_BUS_ERROR, SBX_BUS_ERROR_INVALID_OPTION);
  request = make_request ("a:1", NULL);
  request.deadline_msec = 999;
  assert_refused (self, &request, SBX_BUS_ERROR, SBX_BUS_ERROR_INVALID_OPTION);
  request.deadline_msec = 600001;
  assert_refused (self, &request, SBX_BUS_ERROR, SBX_BUS_ERROR_INVALID_OPTION);
  request.deadline_msec = 0;
  config->min_free_bytes = G_MAXINT64;
  assert_refused (self, &request, SBX_FAILURE_ERROR, SBX_FAILURE_DISK_LOW);
  config->min_free_bytes = 0;
  config->max_queued = 1;
  sbx_turns_reconfigure (self->turns);
  (void) submit (self, "A", "a:1", NULL);
  assert_refused (self, &request, SBX_BUS_ERROR, SBX_BUS_ERROR_QUEUE_FULL);
  run_out (self);
  g_assert_cmpstr (self->told->str, ==, "A=docker-down ");
}

static void
test_speaker_limit (Fixture *self, gconstpointer data)
{
  SbxTurnRequest request = make_request ("a:2", NULL);
  g_autoptr (GError) error = NULL;

  self->context.settings->config->speaker_turns = 2;
  sbx_turns_reconfigure (self->turns);
  (void) submit (self, "A", "a:1", "m1");
  (void) submit (self, "A", "a:1", NULL);
  g_assert_null (sbx_turns_submit (self->turns, &request, NULL, &error));
  g_assert_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_RATE_LIMITED);
  g_assert_nonnull (strstr (error->message, "try again in 60 s"));
  /* What is known already costs nothing. */
  request = make_request ("a:1", "m1");
  g_free (sbx_turns_submit (self->turns, &request, NULL, &error));
  request.speaker_id = "8";
  request.message_id = NULL;
  g_free (sbx_turns_submit (self->turns, &request, NULL, NULL));
  g_assert_cmpuint (sbx_turns_n_queued (self->turns), ==, 3);
}

static void
test_disk_low_while_queued (Fixture *self, gconstpointer data)
{
  (void) submit (self, "A", "a:1", NULL);
  self->context.settings->config->min_free_bytes = G_MAXINT64;
  run_out (self);
  g_assert_cmpstr (self->told->str, ==, "A=disk-low ");
}

static void
test_state_not_written (Fixture *self, gconstpointer data)
{
  g_autofree char *records = g_build_filename (self->top, "state", "turns", NULL);
  SbxTurnRequest request = make_request ("a:1", "m1");

  g_assert_no_errno (g_rmdir (records));
  assert_refused (self, &request, SBX_BUS_ERROR, SBX_BUS_ERROR_STATE_NOT_WRITTEN);
  g_assert_cmpuint (sbx_turns_n_queued (self->turns), ==, 0);
  g_assert_null (sbx_turns_find_message (self->turns, 5, "a:1", "m1"));
  g_assert_no_errno (g_mkdir (records, 0700));
}

static void
test_cancel_channel (Fixture *self, gconstpointer data)
{
  SbxTurnRequest request = make_request ("a:1", NULL);
  guint32 uid = 5;

  (void) submit (self, "A", "a:1", "m1");
  (void) submit (self, "B", "a:1", NULL);
  (void) submit (self, "C", "a:2", NULL);
  request.uid = 6;
  g_free (sbx_turns_submit (self->turns, &request, NULL, NULL));
  g_assert_cmpuint (sbx_turns_cancel_chosen (self->turns, &(SbxTurnChoice){ .channel = "a:1", .uid = &uid }),
                    ==, 2);
  g_assert_cmpstr (self->told->str, ==, "B=cancelled A=cancelled ");
  g_assert_cmpuint (sbx_turns_cancel_chosen (self->turns, &(SbxTurnChoice){ .channel = "a:1" }), ==, 1);
  g_assert_cmpuint (sbx_turns_n_queued (self->turns), ==, 1);
}

static void
test_purge (Fixture *self, gconstpointer data)
{
  g_autofree char *id = g_strdup (submit (self, "A", "a:1", "m1"));

  sbx_turns_start_fresh (self->turns, "a:1", NULL, NULL);
  g_assert_true (sbx_turns_purge (self->turns, "a:1"));
  g_assert_cmpstr (self->told->str, ==, "A=cancelled ");
  g_assert_null (sbx_turns_record (self->turns, id));
  g_assert_cmpuint (sbx_resets_generation (self->context.resets, "a:1"), ==, 0);
  close_state (self);
  open_state (self);
  g_assert_null (sbx_turns_find_message (self->turns, 5, "a:1", "m1"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add ("/turn/turns/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("message-id", test_message_id);
  ADD ("unknown-turn", test_unknown_turn);
  ADD ("waits-are-bounded", test_waits_are_bounded);
  ADD ("back-after-a-restart", test_back_after_a_restart);
  ADD ("started-never-again", test_started_never_again);
  ADD ("stop-keeps-the-detached", test_stop_keeps_the_detached);
  ADD ("mode-is-queued", test_mode_is_queued);
  ADD ("slow-disk", test_slow_disk);
  ADD ("mode-changes-are-bounded", test_mode_changes_are_bounded);
  ADD ("refusals", test_refusals);
  ADD ("speaker-limit", test_speaker_limit);
  ADD ("disk-low-while-queued", test_disk_low_while_queued);
  ADD ("state-not-written", test_state_not_written);
  ADD ("cancel-channel", test_cancel_channel);
  ADD ("purge", test_purge);
  return g_test_run ();
}
