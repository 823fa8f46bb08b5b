/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/manager-private.h"

#include <string.h>

#include "bus/bus-auto.h"
#include "bus/errors.h"
#include "daemon/guard.h"
#include "wire/bounds.h"

/* What was asked for is on the disk, or is not. */
static void
on_kept (const GError *error, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;

  if (error != NULL)
    sbx_manager_reply_error (call->message, error);
  else
    (void) sd_bus_reply_method_return (call->message, NULL);
}

/* --- SetChannelMode, GetChannelMode --- */

static void
set_mode_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  g_autoptr (GError) error = NULL;
  SbxTurns *turns;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  turns = sbx_daemon_turns (call->manager->daemon);
  if (!sbx_turns_set_mode (turns, call->text, call->flag, uid, on_kept, call, &error))
    sbx_manager_reply_error (call->message, error);
  else
    (void) g_steal_pointer (&call); /* on_kept() has it */
}

int
sbx_manager_set_mode (SbxManager *self, sd_bus_message *message, const char *channel, const char *mode,
                      sd_bus_error *ret_error)
{
  if (strcmp (mode, "on") != 0 && strcmp (mode, "off") != 0)
    return sd_bus_error_set (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_INVALID_MODE),
                             "A mode is \"on\" or \"off\"");
  {
    const char *const details[] = { "channel", channel, "mode", mode, NULL };

    sbx_guard_check_async (self->guard, message, SBX_ACTION ("set-channel-mode"), details, self->cancellable,
                           set_mode_allowed,
                           sbx_manager_call_new (self, message, channel, strcmp (mode, "on") == 0));
  }
  return 1;
}

int
sbx_method_set_channel_mode (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  const char *channel, *mode;
  int r = sd_bus_message_read (message, "ss", &channel, &mode);

  if (r < 0 || (r = sbx_manager_check_channel (channel, ret_error)) < 0)
    return r;
  return sbx_manager_set_mode (user_data, message, channel, mode, ret_error);
}

static void
get_mode_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  guint32 uid = 0;

  if (sbx_guard_check_finish (result, &uid))
    (void) sd_bus_reply_method_return (
      call->message, "s",
      sbx_channel_store_has (sbx_daemon_channels (call->manager->daemon), call->text) ? "on" : "off");
}

int
sbx_method_get_channel_mode (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  const char *channel;
  int r = sd_bus_message_read (message, "s", &channel);

  if (r < 0 || (r = sbx_manager_check_channel (channel, ret_error)) < 0)
    return r;
  return sbx_manager_ask (user_data, message, SBX_ACTION ("get-channel-mode"), channel, get_mode_allowed);
}

/* --- CancelTurn --- */

static void
reply_no_such_turn (sd_bus_message *message)
{
  (void) sd_bus_reply_method_errorf (message, sbx_bus_error_name (SBX_BUS_ERROR_NO_SUCH_TURN),
                                     "There is no such turn, or it has its outcome already");
}

void
sbx_manager_turn_details (SbxManager *self, const char *turn, const char *details[5])
{
  const char *channel = sbx_turns_channel_of (sbx_daemon_turns (self->daemon), turn);

  details[0] = "turn";
  details[1] = turn;
  details[2] = "channel";
  /* Of no turn that there is: polkit's message has a place for it. */
  details[3] = channel != NULL ? channel : "";
  details[4] = NULL;
}

static void
cancel_foreign_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  if (sbx_turns_cancel (sbx_daemon_turns (call->manager->daemon), call->text))
    (void) sd_bus_reply_method_return (call->message, NULL);
  else
    reply_no_such_turn (call->message);
}

static void
cancel_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  SbxTurn *turn;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  turn = sbx_turns_find (sbx_daemon_turns (call->manager->daemon), call->text);
  if (turn == NULL || sbx_turn_state (turn) >= SBX_TURN_STATE_FINISHING)
    reply_no_such_turn (call->message);
  else if (sbx_turn_uid (turn) != uid)
    {
      const char *details[5];

      sbx_manager_turn_details (call->manager, call->text, details);
      sbx_guard_check_async (call->manager->guard, call->message, SBX_ACTION ("manage-turns"), details,
                             call->manager->cancellable, cancel_foreign_allowed,
                             sbx_manager_call_new (call->manager, call->message, call->text, FALSE));
    }
  else
    {
      sbx_turn_stop (turn, SBX_FAILURE_CANCELLED);
      (void) sd_bus_reply_method_return (call->message, NULL);
    }
}

int
sbx_manager_cancel (SbxManager *self, sd_bus_message *message, const char *turn)
{
  const char *details[5];

  /* Whoever has no rights could make us, and polkit, hold any number of long texts. */
  if (strlen (turn) > SBX_MAX_TURN_ID_BYTES)
    {
      reply_no_such_turn (message);
      return 1;
    }
  sbx_manager_turn_details (self, turn, details);
  sbx_guard_check_async (self->guard, message, SBX_ACTION ("cancel-turn"), details, self->cancellable,
                         cancel_allowed, sbx_manager_call_new (self, message, turn, FALSE));
  return 1;
}

int
sbx_method_cancel_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  const char *turn;
  int r = sd_bus_message_read (message, "s", &turn);

  return r < 0 ? r : sbx_manager_cancel (user_data, message, turn);
}

/* --- ListTurns --- */

static int
append_turns (sd_bus_message *reply, SbxTurns *turns)
{
  g_autoptr (GPtrArray) list = sbx_turns_list (turns);
  int r = sd_bus_message_open_container (reply, 'a', "(sssutts)");

  for (guint i = 0; r >= 0 && i < list->len; i++)
    {
      const SbxTurn *turn = list->pdata[i];

      r = sd_bus_message_append (reply, "(sssutts)", sbx_turn_id (turn), sbx_turn_channel (turn),
                                 sbx_turn_state_name (sbx_turn_state (turn)), sbx_turn_uid (turn),
                                 (uint64_t) sbx_turn_accepted_usec (turn),
                                 (uint64_t) sbx_turn_state_since_usec (turn),
                                 sbx_turns_waits_for (turns, turn));
    }
  return r < 0 ? r : sd_bus_message_close_container (reply);
}

static void
list_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  g_autoptr (sd_bus_message) reply = NULL;
  guint32 uid = 0;
  int r;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  r = sd_bus_message_new_method_return (call->message, &reply);
  if (r >= 0)
    r = append_turns (reply, sbx_daemon_turns (call->manager->daemon));
  sbx_manager_send_reply (call->message, reply, r);
}

int
sbx_method_list_turns (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sbx_manager_ask (user_data, message, SBX_ACTION ("list-turns"), NULL, list_allowed);
}

/* --- StartFresh --- */

static void
fresh_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  SbxManagerCall *asked = call;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  (void) g_steal_pointer (&call); /* on_kept() has it */
  sbx_turns_start_fresh (sbx_daemon_turns (asked->manager->daemon), asked->text, on_kept, asked);
}

int
sbx_manager_start_fresh (SbxManager *self, sd_bus_message *message, const char *channel)
{
  return sbx_manager_ask (self, message, SBX_ACTION ("start-fresh"), channel, fresh_allowed);
}

int
sbx_method_start_fresh (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  const char *channel;
  int r = sd_bus_message_read (message, "s", &channel);

  if (r < 0 || (r = sbx_manager_check_channel (channel, ret_error)) < 0)
    return r;
  return sbx_manager_start_fresh (user_data, message, channel);
}

/* --- ListChannels --- */

static void
channels_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  g_autoptr (GPtrArray) keys = NULL;
  g_autoptr (sd_bus_message) reply = NULL;
  guint32 uid = 0;
  int r;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  keys = sbx_channel_store_list (sbx_daemon_channels (call->manager->daemon));
  g_ptr_array_add (keys, NULL);
  r = sd_bus_message_new_method_return (call->message, &reply);
  if (r >= 0)
    r = sd_bus_message_append_strv (reply, (char **) keys->pdata);
  sbx_manager_send_reply (call->message, reply, r);
}

int
sbx_method_list_channels (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sbx_manager_ask (user_data, message, SBX_ACTION ("list-turns"), NULL, channels_allowed);
}
