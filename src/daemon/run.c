/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/run-private.h"

#include <errno.h>

#include "base/log.h"
#include "base/text.h"
#include "base/utf16.h"
#include "bus/bus-auto.h"
#include "bus/errors.h"
#include "daemon/defang.h"
#include "daemon/outcome-answer.h"
#include "wire/bounds.h"

/* Of one caller, and of all. Far above what the queues hold for an honest bot. */
#define MAX_RUNS_PER_CALLER 256u
#define MAX_RUNS            1024u

void
sbx_run_free (gpointer run)
{
  SbxRun *self = run;

  sbx_turn_wait_cancel (self->wait);
  sd_bus_message_unref (self->message);
  g_object_unref (self->cancellable);
  g_free (self->caller);
  g_free (self->id);
  g_free (self->channel);
  g_free (self->speaker_id);
  g_free (self->speaker_name);
  g_free (self->text);
  sbx_turn_options_clear (&self->options);
  g_free (self);
}

SbxRun *
sbx_run_new (SbxManager *manager, sd_bus_message *message, SbxRunKind kind)
{
  SbxRun *self = g_new0 (SbxRun, 1);

  self->manager = manager;
  self->kind = kind;
  self->message = sd_bus_message_ref (message);
  self->caller = sbx_caller_name (message);
  self->cancellable = g_cancellable_new ();
  return self;
}

void
sbx_run_end (SbxRun *self)
{
  g_ptr_array_remove (self->manager->runs, self);
}

/* The caller is gone. A turn that only they could hear of goes too. */
static void
run_drop (SbxRun *self)
{
  SbxTurns *turns = sbx_daemon_turns (self->manager->daemon);
  g_autofree char *id = NULL;

  if (self->wait == NULL)
    {
      /* Still being judged: the verdict ends it. */
      g_cancellable_cancel (self->cancellable);
      return;
    }
  if (self->kind == SBX_RUN_TURN && self->options.message_id == NULL)
    id = g_steal_pointer (&self->id);
  sbx_run_end (self);
  if (id != NULL)
    (void) sbx_turns_cancel (turns, id);
}

/* Those of one caller, or of all where caller is NULL. */
static void
drop_runs (SbxManager *self, sd_bus *bus, const char *caller)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new ();

  for (guint i = 0; i < self->runs->len; i++)
    {
      SbxRun *run = self->runs->pdata[i];

      if (sd_bus_message_get_bus (run->message) == bus
          && (caller == NULL || g_str_equal (run->caller, caller)))
        g_ptr_array_add (runs, run);
    }
  for (guint i = 0; i < runs->len; i++)
    run_drop (runs->pdata[i]);
}

void
sbx_manager_drop_runs (SbxManager *self, sd_bus *bus)
{
  drop_runs (self, bus, NULL);
}

static int
on_name_lost (sd_bus_message *signal, void *user_data, sd_bus_error *ret_error)
{
  const char *name;

  if (sd_bus_message_read (signal, "s", &name) >= 0 && name[0] == ':')
    drop_runs (user_data, sd_bus_message_get_bus (signal), name);
  return 0;
}

int
sbx_manager_watch_callers (SbxManager *self, sd_bus *bus, GPtrArray *slots)
{
  sd_bus_slot *slot = NULL;
  int r = sd_bus_add_match_async (bus, &slot,
                                  "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                                  "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''",
                                  on_name_lost, NULL, self);

  return r < 0 ? r : sbx_manager_keep_slot (slots, slot);
}

int
sbx_run_watch (SbxRun *self, sd_bus_error *ret_error)
{
  GPtrArray *runs = self->manager->runs;
  guint n = 0;

  for (guint i = 0; i < runs->len; i++)
    n += g_str_equal (((SbxRun *) runs->pdata[i])->caller, self->caller);
  if (n >= MAX_RUNS_PER_CALLER || runs->len >= MAX_RUNS)
    return sd_bus_error_set (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_TOO_BUSY),
                             "Too many calls wait for turns; wait for some of them first");
  g_ptr_array_add (runs, self);
  return 0;
}

void
sbx_run_ask (SbxRun *self, GAsyncReadyCallback allowed)
{
  const char *const details[] = { "channel",   self->channel,
                                  "speaker",   self->speaker_id,
                                  "principal", self->options.principal != NULL ? self->options.principal : "",
                                  NULL };

  sbx_guard_check_async (self->manager->guard, self->message, SBX_ACTION ("run-turn"), details,
                         self->cancellable, allowed, self);
}

int
sbx_run_check_words (SbxRun *self, sd_bus_error *ret_error)
{
  const SbxConfig *config = sbx_daemon_context (self->manager->daemon)->settings->config;
  int r = sbx_manager_check_channel (self->channel, ret_error);

  if (r < 0)
    return r;
  if (sbx_utf16_units (self->speaker_id) > SBX_MAX_SPEAKER_UNITS
      || sbx_utf16_units (self->speaker_name) > SBX_MAX_SPEAKER_UNITS)
    return sd_bus_error_set (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_INVALID_SPEAKER),
                             "A speaker's id and name are texts of at most 256 UTF-16 units");
  if (sbx_utf16_units (self->text) > SBX_MAX_TEXT_UNITS)
    return sd_bus_error_setf (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_TEXT_TOO_LONG),
                              "A message is at most %u UTF-16 units long", SBX_MAX_TEXT_UNITS);
  if (config->require_principal && self->options.principal == NULL)
    return sd_bus_error_set (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_INVALID_PRINCIPAL),
                             "The option \"principal\" is needed here (RequirePrincipal=yes)");
  return 0;
}

/* --- telling --- */

static void
reply_outcome (SbxRun *self, const SbxOutcome *outcome)
{
  g_autoptr (sd_bus_message) reply = NULL;
  int r = sd_bus_message_new_method_return (self->message, &reply);

  if (r >= 0 && self->kind == SBX_RUN_DELIVER)
    r = sd_bus_message_append (reply, "s", sbx_verdict_name (SBX_VERDICT_TURN));
  if (r >= 0)
    r = sbx_outcome_append (reply, self->id, outcome, &self->options);
  sbx_manager_send_reply (self->message, reply, r);
}

/* To the caller alone: a reply is nobody else's. */
static void
send_finished (SbxRun *self, const SbxOutcome *outcome)
{
  sd_bus *bus = sd_bus_message_get_bus (self->message);
  g_autofree char *path = sbx_turn_path (self->id);
  g_autoptr (sd_bus_message) told = NULL;
  int r = sd_bus_message_new_signal (bus, &told, path, SBX_TURN_INTERFACE, "Finished");

  if (r >= 0 && sd_bus_is_bus_client (bus) > 0)
    r = sd_bus_message_set_destination (told, sd_bus_message_get_sender (self->message));
  if (r >= 0)
    r = sbx_outcome_append (told, self->id, outcome, &self->options);
  if (r >= 0)
    (void) sd_bus_send (bus, told, NULL);
}

static void
reply_run_turn (SbxRun *self, const SbxOutcome *outcome)
{
  g_auto (sd_bus_error) error = SD_BUS_ERROR_NULL;

  if (outcome == NULL)
    (void) sd_bus_reply_method_errorf (
      self->message, sbx_bus_error_name (SBX_BUS_ERROR_SHUTTING_DOWN),
      "The service is being restarted, and the turn still waits; ask for it again with its message-id");
  else if (outcome->kind == SBX_OUTCOME_REPLIED)
    {
      g_autofree char *text = sbx_text_plain (outcome->text);
      g_autofree char *shown = self->options.live_links ? g_strdup (text) : sbx_defang (text);

      (void) sd_bus_reply_method_return (self->message, "bs", outcome->ok, shown);
    }
  else
    {
      (void) sbx_bus_error_set_failure (&error, outcome->failure, NULL);
      (void) sd_bus_reply_method_error (self->message, &error);
    }
}

static void
on_told (const char *id, const SbxOutcome *outcome, gpointer user_data)
{
  SbxRun *self = user_data;

  self->wait = NULL;
  if (self->kind == SBX_RUN_TURN)
    reply_run_turn (self, outcome);
  else if (!self->answered)
    reply_outcome (self, outcome);
  else if (outcome != NULL)
    send_finished (self, outcome);
  sbx_run_end (self);
}

gboolean
sbx_run_await (SbxRun *self)
{
  g_autoptr (GError) error = NULL;

  self->wait = sbx_turns_wait (sbx_daemon_turns (self->manager->daemon), self->id, on_told, self, &error);
  if (self->wait != NULL)
    return TRUE;
  if (!self->answered)
    sbx_manager_reply_error (self->message, error);
  sbx_run_end (self);
  return FALSE;
}

/* --- taking --- */

static void
on_kept (const GError *error, gpointer user_data)
{
  SbxRun *self = user_data;

  if (error != NULL)
    {
      g_autoptr (GError) told = g_error_new (SBX_BUS_ERROR, SBX_BUS_ERROR_STATE_NOT_WRITTEN,
                                             "The turn cannot be recorded: %s", error->message);

      sbx_log (LOG_ERR, &(SbxLogFields){ .turn = self->id, .channel = self->channel }, "%s", told->message);
      (void) sbx_turns_cancel (sbx_daemon_turns (self->manager->daemon), self->id);
      sbx_manager_reply_error (self->message, told);
    }
  else if (self->replaces)
    (void) sbx_turns_replace (sbx_daemon_turns (self->manager->daemon), self->id);
  /* The caller may have left meanwhile. */
  if (error != NULL || g_cancellable_is_cancelled (self->cancellable))
    {
      sbx_run_end (self);
      return;
    }
  self->taken (self);
  self->answered = TRUE;
  (void) sbx_run_await (self);
}

void
sbx_run_submit (SbxRun *self, guint32 uid, void (*taken) (SbxRun *self))
{
  SbxTurns *turns = sbx_daemon_turns (self->manager->daemon);
  const SbxTurnRequest request = { .channel = self->channel,
                                   .speaker_id = self->speaker_id,
                                   .speaker_name = self->speaker_name,
                                   .principal = self->options.principal,
                                   .text = self->text,
                                   .message_id = self->options.message_id,
                                   .uid = uid,
                                   .deadline_msec = self->options.deadline_sec * 1000,
                                   .detached =
                                     self->kind != SBX_RUN_TURN || self->options.message_id != NULL };
  gboolean known = request.message_id != NULL
                   && sbx_turns_find_message (turns, uid, self->channel, request.message_id) != NULL;
  g_autoptr (GError) error = NULL;

  if (self->options.not_in_queue && !known && sbx_turns_would_wait (turns, self->channel))
    g_set_error_literal (&error, SBX_BUS_ERROR, SBX_BUS_ERROR_TOO_BUSY,
                         "The turn would have to wait; ask later, or with wait-in-queue");
  else
    self->id = sbx_turns_submit (turns, &request, NULL, &error);
  if (self->id == NULL)
    {
      sbx_manager_reply_error (self->message, error);
      sbx_run_end (self);
    }
  else if (taken == NULL)
    {
      if (self->options.replaces && !known)
        (void) sbx_turns_replace (turns, self->id);
      (void) sbx_run_await (self);
    }
  else
    {
      self->taken = taken;
      self->replaces = self->options.replaces && !known;
      sbx_record_store_when_kept (sbx_daemon_context (self->manager->daemon)->records, on_kept, self);
    }
}
