/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* RunTurn and StartTurn. */
#include "daemon/run-private.h"

static void
answer_start (SbxRun *self)
{
  g_autofree char *path = sbx_turn_path (self->id);

  (void) sd_bus_reply_method_return (self->message, "o", path);
}

static void
run_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbxRun *self = user_data;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid) || g_cancellable_is_cancelled (self->cancellable))
    sbx_run_end (self);
  else
    sbx_run_submit (self, uid, self->kind == SBX_RUN_START ? answer_start : NULL);
}

static int
run_or_start (sd_bus_message *message, SbxManager *manager, SbxRunKind kind, sd_bus_error *ret_error)
{
  const char *channel, *speaker_id, *speaker_name, *text;
  SbxRun *run;
  int r = sd_bus_message_read (message, "ssss", &channel, &speaker_id, &speaker_name, &text);

  if (r < 0)
    return r;
  run = sbx_run_new (manager, message, kind);
  run->channel = g_strdup (channel);
  run->speaker_id = g_strdup (speaker_id);
  run->speaker_name = g_strdup (speaker_name);
  run->text = g_strdup (text);
  r = sbx_turn_options_read (&run->options, message, FALSE, ret_error);
  if (r >= 0)
    r = sbx_run_check_words (run, ret_error);
  if (r >= 0)
    r = sbx_run_watch (run, ret_error);
  if (r < 0)
    {
      sbx_run_free (run);
      return r;
    }
  sbx_run_ask (run, run_allowed);
  return 1;
}

int
sbx_method_run_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return run_or_start (message, user_data, SBX_RUN_TURN, ret_error);
}

int
sbx_method_start_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return run_or_start (message, user_data, SBX_RUN_START, ret_error);
}
