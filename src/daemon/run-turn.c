/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/manager-private.h"

#include <string.h>

#include "base/text.h"
#include "base/utf16.h"
#include "bus/errors.h"
#include "daemon/guard.h"
#include "wire/bounds.h"

/* A caller of RunTurn, until they are answered or have left. Owned by the manager's list. */
typedef struct {
  SbxManager *manager;
  sd_bus_message *message;
  sd_bus_slot *left_slot;
  GCancellable *cancellable; /* of the verdict */
  SbxTurnWait *wait;         /* NULL before the turn is accepted */
  char *id;                  /* of the turn, as soon as there is one */
  char *channel;
  char *speaker_id;
  char *speaker_name;
  char *text;
  char *principal;
  char *message_id;
  guint32 deadline_sec; /* 0: the configured one */
} Run;

void
sbx_run_free (gpointer data)
{
  Run *self = data;

  sbx_turn_wait_cancel (self->wait);
  sd_bus_slot_unref (self->left_slot);
  sd_bus_message_unref (self->message);
  g_object_unref (self->cancellable);
  g_free (self->id);
  g_free (self->channel);
  g_free (self->speaker_id);
  g_free (self->speaker_name);
  g_free (self->text);
  g_free (self->principal);
  g_free (self->message_id);
  g_free (self);
}

static void
run_end (Run *self)
{
  g_ptr_array_remove (self->manager->runs, self);
}

/* The caller is gone. Without a message-id nobody else can ask for this turn. */
static void
run_drop (Run *self)
{
  SbxTurns *turns = sbx_daemon_turns (self->manager->daemon);
  g_autofree char *id = NULL;

  if (self->wait == NULL)
    {
      /* Still being judged: the verdict ends it. */
      g_cancellable_cancel (self->cancellable);
      return;
    }
  if (self->message_id == NULL)
    id = g_steal_pointer (&self->id);
  run_end (self);
  if (id != NULL)
    (void) sbx_turns_cancel (turns, id);
}

void
sbx_manager_drop_runs (SbxManager *self, sd_bus *bus)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new ();

  for (guint i = 0; i < self->runs->len; i++)
    if (sd_bus_message_get_bus (((Run *) self->runs->pdata[i])->message) == bus)
      g_ptr_array_add (runs, self->runs->pdata[i]);
  for (guint i = 0; i < runs->len; i++)
    run_drop (runs->pdata[i]);
}

static int
on_caller_left (sd_bus_message *signal, void *user_data, sd_bus_error *ret_error)
{
  run_drop (user_data);
  return 0;
}

static void
on_run_told (const char *id, const SbxOutcome *outcome, gpointer user_data)
{
  Run *self = user_data;
  sd_bus_error error = SD_BUS_ERROR_NULL;

  self->wait = NULL;
  if (outcome == NULL)
    (void) sd_bus_reply_method_errorf (
      self->message, sbx_bus_error_name (SBX_BUS_ERROR_SHUTTING_DOWN),
      "The service is being restarted, and the turn still waits; ask for it again with its message-id");
  else if (outcome->kind == SBX_OUTCOME_REPLIED)
    {
      g_autofree char *text = sbx_text_plain (outcome->text);

      (void) sd_bus_reply_method_return (self->message, "bs", outcome->ok, text);
    }
  else
    {
      (void) sbx_bus_error_set_failure (&error, outcome->failure, NULL);
      (void) sd_bus_reply_method_error (self->message, &error);
      sd_bus_error_free (&error);
    }
  run_end (self);
}

static void
run_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Run *self = user_data;
  g_autoptr (GError) error = NULL;
  SbxTurns *turns = sbx_daemon_turns (self->manager->daemon);
  SbxTurnRequest request = { .channel = self->channel,
                             .speaker_id = self->speaker_id,
                             .speaker_name = self->speaker_name,
                             .principal = self->principal,
                             .text = self->text,
                             .message_id = self->message_id,
                             .deadline_msec = self->deadline_sec * 1000,
                             .detached = self->message_id != NULL };

  if (!sbx_guard_check_finish (result, &request.uid) || g_cancellable_is_cancelled (self->cancellable))
    {
      run_end (self);
      return;
    }
  self->id = sbx_turns_submit (turns, &request, NULL, &error);
  if (self->id != NULL)
    self->wait = sbx_turns_wait (turns, self->id, on_run_told, self, &error);
  if (self->wait != NULL)
    return;
  sbx_manager_reply_error (self->message, error);
  run_end (self);
}

/* --- arguments --- */

static int
refuse (sd_bus_error *ret_error, SbxBusError code, const char *text)
{
  return sd_bus_error_set (ret_error, sbx_bus_error_name (code), text);
}

static gboolean
is_short (const char *text)
{
  return *text != '\0' && sbx_utf16_units (text) <= SBX_MAX_SPEAKER_UNITS;
}

static int
read_option (sd_bus_message *message, const char *name, Run *run, sd_bus_error *ret_error)
{
  const char *value = NULL;

  if (strcmp (name, "principal") == 0)
    {
      if (sd_bus_message_read (message, "v", "s", &value) < 0 || !is_short (value))
        return refuse (ret_error, SBX_BUS_ERROR_INVALID_PRINCIPAL,
                       "A principal is a text of 1 to 256 UTF-16 units");
      g_free (run->principal);
      run->principal = g_strdup (value);
      return 0;
    }
  if (strcmp (name, "message-id") == 0)
    {
      if (sd_bus_message_read (message, "v", "s", &value) < 0 || *value == '\0'
          || strlen (value) > SBX_MAX_MESSAGE_ID_BYTES)
        return refuse (ret_error, SBX_BUS_ERROR_INVALID_OPTION, "A message-id is a text of 1 to 256 bytes");
      g_free (run->message_id);
      run->message_id = g_strdup (value);
      return 0;
    }
  if (strcmp (name, "deadline") == 0)
    {
      if (sd_bus_message_read (message, "v", "u", &run->deadline_sec) < 0 || run->deadline_sec < 1
          || run->deadline_sec > SBX_MAX_DEADLINE_MSEC / 1000)
        return refuse (ret_error, SBX_BUS_ERROR_INVALID_OPTION,
                       "A deadline is a number (u) of seconds, 1 to 600");
      return 0;
    }
  return sd_bus_error_setf (
    ret_error, sbx_bus_error_name (SBX_BUS_ERROR_INVALID_OPTION),
    "There is no option \"%s\"; known are \"principal\", \"message-id\" and \"deadline\"", name);
}

static int
read_options (sd_bus_message *message, Run *run, sd_bus_error *ret_error)
{
  int r = sd_bus_message_enter_container (message, 'a', "{sv}");

  while (r >= 0 && (r = sd_bus_message_enter_container (message, 'e', "sv")) > 0)
    {
      const char *name;

      r = sd_bus_message_read (message, "s", &name);
      if (r >= 0)
        r = read_option (message, name, run, ret_error);
      if (r >= 0)
        r = sd_bus_message_exit_container (message);
    }
  return r < 0 ? r : sd_bus_message_exit_container (message);
}

static int
check_words (Run *run, gboolean require_principal, sd_bus_error *ret_error)
{
  int r = sbx_manager_check_channel (run->channel, ret_error);

  if (r < 0)
    return r;
  if (sbx_utf16_units (run->speaker_id) > SBX_MAX_SPEAKER_UNITS
      || sbx_utf16_units (run->speaker_name) > SBX_MAX_SPEAKER_UNITS)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_SPEAKER,
                   "A speaker's id and name are texts of at most 256 UTF-16 units");
  if (sbx_utf16_units (run->text) > SBX_MAX_TEXT_UNITS)
    return sd_bus_error_setf (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_TEXT_TOO_LONG),
                              "A message is at most %u UTF-16 units long", SBX_MAX_TEXT_UNITS);
  if (require_principal && run->principal == NULL)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_PRINCIPAL,
                   "The option \"principal\" is needed here (RequirePrincipal=yes)");
  return 0;
}

int
sbx_method_run_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;
  const char *channel, *speaker_id, *speaker_name, *text;
  g_autofree char *match = NULL;
  Run *run;
  int r = sd_bus_message_read (message, "ssss", &channel, &speaker_id, &speaker_name, &text);

  if (r < 0)
    return r;
  run = g_new0 (Run, 1);
  run->manager = self;
  run->message = sd_bus_message_ref (message);
  run->cancellable = g_cancellable_new ();
  run->channel = g_strdup (channel);
  run->speaker_id = g_strdup (speaker_id);
  run->speaker_name = g_strdup (speaker_name);
  run->text = g_strdup (text);
  r = read_options (message, run, ret_error);
  if (r >= 0)
    r = check_words (run, sbx_daemon_context (self->daemon)->settings->config->require_principal, ret_error);
  if (r >= 0 && sd_bus_is_bus_client (sd_bus_message_get_bus (message)) > 0)
    {
      /* Watched before the bus is asked who they are, so that nobody slips away in between. */
      match = g_strdup_printf ("type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                               "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s',arg2=''",
                               sd_bus_message_get_sender (message));
      r = sd_bus_add_match_async (sd_bus_message_get_bus (message), &run->left_slot, match, on_caller_left,
                                  NULL, run);
    }
  if (r < 0)
    {
      sbx_run_free (run);
      return r;
    }
  g_ptr_array_add (self->runs, run);
  {
    const char *const details[] = { "channel", channel, "principal",
                                    run->principal != NULL ? run->principal : "", NULL };

    sbx_guard_check_async (self->guard, message, SBX_ACTION ("run-turn"), details, run->cancellable,
                           run_allowed, run);
  }
  return 1;
}
