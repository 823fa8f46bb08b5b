/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What is asked of a channel beside turns: another mode, a fresh start. */
#include "base/log.h"
#include "bus/errors.h"
#include "turn/turns-private.h"

/* --- modes --- */

/* Tells whoever asked for the change; the entry is gone then. */
static void
change_end (SbxTurns *self, SbxTurnEntry *entry, const GError *error)
{
  SbxStateDone done = entry->done;
  gpointer done_data = entry->done_data;

  g_ptr_array_remove_fast (self->changes, entry);
  if (done != NULL)
    done (error, done_data);
}

static GError *
not_written (const GError *error)
{
  return error != NULL ? g_error_new_literal (SBX_BUS_ERROR, SBX_BUS_ERROR_STATE_NOT_WRITTEN, error->message)
                       : NULL;
}

static void
on_mode_written (const GError *error, gpointer user_data)
{
  SbxTurnEntry *entry = user_data;
  SbxTurns *self = entry->turns;
  g_autoptr (GError) told = not_written (error);

  if (error != NULL)
    sbx_log (LOG_ERR, &(SbxLogFields){ .channel = entry->channel }, "%s", error->message);
  else
    {
      sbx_log_event (SBX_LOG_ID_CHANNEL_MODE_CHANGED, LOG_NOTICE,
                     &(SbxLogFields){ .channel = entry->channel }, "The channel %s is %s (by uid %u)",
                     entry->channel, entry->on ? "sandboxed" : "not sandboxed any more", entry->uid);
      if (self->events->mode_changed != NULL)
        self->events->mode_changed (entry->channel, entry->on, self->user_data);
    }
  sbx_queue_release (self->queue, entry->channel);
  change_end (self, entry, told);
  sbx_turns_pump_soon (self);
}

void
sbx_turns_change_mode (SbxTurns *self, SbxTurnEntry *entry)
{
  sbx_channel_store_set (self->channels, entry->channel, entry->on, on_mode_written, entry);
}

gboolean
sbx_turns_set_mode (SbxTurns *self, const char *channel, gboolean on, guint32 uid, SbxStateDone done,
                    gpointer user_data, GError **error)
{
  SbxTurnEntry *entry;

  if (self->stopping)
    {
      g_set_error_literal (error, SBX_BUS_ERROR, SBX_BUS_ERROR_SHUTTING_DOWN, "The service is being stopped");
      return FALSE;
    }
  entry = g_new0 (SbxTurnEntry, 1);
  entry->turns = self;
  entry->channel = g_strdup (channel);
  entry->on = on;
  entry->uid = uid;
  entry->done = done;
  entry->done_data = user_data;
  if (!sbx_queue_add_change (self->queue, channel, entry))
    {
      sbx_turn_entry_free (entry);
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_QUEUE_FULL,
                   "%u changes of this channel's mode wait already", SBX_QUEUE_MAX_CHANGES);
      return FALSE;
    }
  g_ptr_array_add (self->changes, entry);
  sbx_turns_pump_soon (self);
  return TRUE;
}

void
sbx_turns_put_off_changes (SbxTurns *self)
{
  g_autoptr (GError) error =
    g_error_new_literal (SBX_BUS_ERROR, SBX_BUS_ERROR_SHUTTING_DOWN,
                         "The service is being stopped, and the channel's mode is as it was");

  for (guint i = self->changes->len; i > 0; i--)
    {
      SbxTurnEntry *entry = self->changes->pdata[i - 1];

      if (sbx_queue_remove (self->queue, entry->channel, entry))
        change_end (self, entry, error);
    }
}

/* --- fresh starts --- */

typedef struct {
  SbxTurns *turns;
  SbxStateDone done;
  gpointer user_data;
} Fresh;

static void
on_fresh_written (const GError *error, gpointer user_data)
{
  g_autofree Fresh *fresh = user_data;
  g_autoptr (GError) told = not_written (error);

  fresh->turns->n_fresh--;
  sbx_turns_pump_soon (fresh->turns);
  if (fresh->done != NULL)
    fresh->done (told, fresh->user_data);
}

void
sbx_turns_start_fresh (SbxTurns *self, const char *channel, SbxStateDone done, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  Fresh *fresh = g_new0 (Fresh, 1);

  fresh->turns = self;
  fresh->done = done;
  fresh->user_data = user_data;
  self->n_fresh++;
  if (!sbx_resets_ask (self->context->resets, channel, on_fresh_written, fresh, &error))
    on_fresh_written (error, fresh);
}
