/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Turn.Wait and FindTurn: for whoever started a turn, or may manage those of others. */
#include "daemon/run-private.h"

#include <string.h>

#include "bus/errors.h"

static void
foreign_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbxRun *self = user_data;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid) || g_cancellable_is_cancelled (self->cancellable))
    sbx_run_end (self);
  else
    (void) sbx_run_await (self);
}

static void
caller_known (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbxRun *self = user_data;
  SbxTurns *turns = sbx_daemon_turns (self->manager->daemon);
  guint32 uid = 0;
  guint32 owner = 0;

  if (!sbx_guard_check_finish (result, &uid) || g_cancellable_is_cancelled (self->cancellable))
    sbx_run_end (self);
  else if (!sbx_turns_uid_of (turns, self->id, &owner) || owner == uid)
    (void) sbx_run_await (self);
  else
    {
      const char *details[5];

      sbx_manager_turn_details (self->manager, self->id, details);
      sbx_guard_check_async (self->manager->guard, self->message, SBX_ACTION ("manage-turns"), details,
                             self->cancellable, foreign_allowed, self);
    }
}

int
sbx_method_wait (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  SbxRun *run = sbx_run_new (user_data, message, SBX_RUN_WAIT);
  int r = sbx_turn_options_read (&run->options, message, TRUE, ret_error);

  run->id = g_strdup (sbx_turn_of_path (sd_bus_message_get_path (message)));
  if (r >= 0)
    r = sbx_run_watch (run, ret_error);
  if (r < 0)
    {
      sbx_run_free (run);
      return r;
    }
  sbx_guard_check_async (run->manager->guard, message, NULL, NULL, run->cancellable, caller_known, run);
  return 1;
}

/* --- FindTurn --- */

typedef struct {
  SbxManagerCall *call;
  char *message_id;
} Find;

static void
find_known (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Find *self = user_data;
  guint32 uid = 0;

  if (sbx_guard_check_finish (result, &uid))
    {
      SbxTurns *turns = sbx_daemon_turns (self->call->manager->daemon);
      const char *id = sbx_turns_find_message (turns, uid, self->call->text, self->message_id);

      if (id != NULL)
        {
          g_autofree char *path = sbx_turn_path (id);

          (void) sd_bus_reply_method_return (self->call->message, "o", path);
        }
      else if (sbx_turns_is_stopping (turns))
        (void) sd_bus_reply_method_errorf (
          self->call->message, sbx_bus_error_name (SBX_BUS_ERROR_SHUTTING_DOWN),
          "The service is being stopped; ask again when it is back, a turn that "
          "waited is there then");
      else
        (void) sd_bus_reply_method_errorf (self->call->message,
                                           sbx_bus_error_name (SBX_BUS_ERROR_NO_SUCH_TURN),
                                           "You started no turn with this message-id in this channel, or its "
                                           "outcome is forgotten; they are kept for an hour");
    }
  sbx_manager_call_free (self->call);
  g_free (self->message_id);
  g_free (self);
}

int
sbx_method_find_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *manager = user_data;
  const char *channel, *message_id;
  Find *self;
  int r = sd_bus_message_read (message, "ss", &channel, &message_id);

  if (r < 0 || (r = sbx_manager_check_channel (channel, ret_error)) < 0)
    return r;
  if (*message_id == '\0' || strlen (message_id) > SBX_MAX_MESSAGE_ID_BYTES)
    return sd_bus_error_setf (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_INVALID_OPTION),
                              "A message-id is a text of 1 to %u bytes", SBX_MAX_MESSAGE_ID_BYTES);
  self = g_new0 (Find, 1);
  self->call = sbx_manager_call_new (manager, message, channel, FALSE);
  self->message_id = g_strdup (message_id);
  sbx_guard_check_async (manager->guard, message, NULL, NULL, manager->cancellable, find_known, self);
  return 1;
}
