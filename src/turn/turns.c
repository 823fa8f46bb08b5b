/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turns.h"

#include <string.h>

#include "base/log.h"
#include "bus/errors.h"
#include "turn/queue.h"

typedef struct {
  SbxTurns *turns;
  SbxTurn *turn;
  SbxTurnTold told;
  gpointer user_data;
} Entry;

struct _SbxTurns {
  SbxTurnContext *context;
  SbxChannelStore *channels;
  SbxQueue *queue;
  GPtrArray *entries; /* of Entry, in order of acceptance */
  GSource *pump_source;
  guint64 n_finished;
  guint64 n_failed;
  gboolean stopping;
  void (*stopped) (gpointer user_data);
  gpointer stopped_data;
  void (*changed) (gpointer user_data);
  gpointer user_data;
};

static void
entry_free (gpointer data)
{
  Entry *self = data;

  sbx_turn_unref (self->turn);
  g_free (self);
}

static void
tell_changed (SbxTurns *self)
{
  if (self->changed != NULL)
    self->changed (self->user_data);
}

static gboolean
on_pump (gpointer user_data)
{
  SbxTurns *self = user_data;
  Entry *entry;

  g_clear_pointer (&self->pump_source, g_source_unref);
  while ((entry = sbx_queue_next (self->queue)) != NULL)
    {
      /* The mode may have changed while it waited. */
      if (sbx_channel_store_has (self->channels, sbx_turn_channel (entry->turn)))
        sbx_turn_admit (entry->turn);
      else
        sbx_turn_refuse (entry->turn);
    }
  tell_changed (self);
  if (self->stopping && self->entries->len == 0 && self->stopped != NULL)
    {
      void (*stopped) (gpointer) = g_steal_pointer (&self->stopped);

      stopped (self->stopped_data);
    }
  return G_SOURCE_REMOVE;
}

/* From the loop: an outcome may come while a caller is still being answered. */
static void
pump_soon (SbxTurns *self)
{
  if (self->pump_source != NULL)
    return;
  self->pump_source = g_idle_source_new ();
  g_source_set_priority (self->pump_source, G_PRIORITY_DEFAULT);
  g_source_set_callback (self->pump_source, on_pump, self, NULL);
  g_source_attach (self->pump_source, NULL);
}

SbxTurns *
sbx_turns_new (SbxTurnContext *context, SbxChannelStore *channels, void (*changed) (gpointer user_data),
               gpointer user_data)
{
  const SbxConfig *config = context->settings->config;
  SbxTurns *self = g_new0 (SbxTurns, 1);

  self->context = context;
  self->channels = channels;
  self->queue = sbx_queue_new ((guint) config->max_turns, (guint) config->max_queued);
  self->entries = g_ptr_array_new_with_free_func (entry_free);
  self->changed = changed;
  self->user_data = user_data;
  return self;
}

void
sbx_turns_free (SbxTurns *self)
{
  if (self == NULL)
    return;
  if (self->pump_source != NULL)
    g_source_destroy (self->pump_source);
  g_clear_pointer (&self->pump_source, g_source_unref);
  g_ptr_array_unref (self->entries);
  sbx_queue_free (self->queue);
  g_free (self);
}

static void
on_turn_told (SbxTurn *turn, SbxOutcome *outcome, gpointer user_data)
{
  Entry *entry = user_data;
  SbxTurnTold told = g_steal_pointer (&entry->told);

  entry->turns->n_finished++;
  if (outcome->kind == SBX_OUTCOME_FAILED || outcome->kind == SBX_OUTCOME_DEADLINE)
    entry->turns->n_failed++;
  /* Out of the queue where it still waits; it leaves right after this. */
  if (told != NULL)
    told (turn, outcome, entry->user_data);
}

static void
on_turn_changed (SbxTurn *turn, gpointer user_data)
{
  Entry *entry = user_data;

  tell_changed (entry->turns);
}

static void
on_turn_left (SbxTurn *turn, gpointer user_data)
{
  Entry *entry = user_data;
  SbxTurns *self = entry->turns;

  if (!sbx_queue_remove (self->queue, sbx_turn_channel (turn), entry))
    sbx_queue_release (self->queue, sbx_turn_channel (turn));
  g_ptr_array_remove (self->entries, entry);
  pump_soon (self);
}

static const SbxTurnEvents turn_events = { on_turn_told, on_turn_changed, on_turn_left };

SbxTurn *
sbx_turns_submit (SbxTurns *self, const SbxTurnRequest *request, SbxTurnTold told, gpointer user_data,
                  GError **error)
{
  Entry *entry;

  if (self->stopping)
    {
      g_set_error_literal (error, SBX_BUS_ERROR, SBX_BUS_ERROR_SHUTTING_DOWN, "The service is being stopped");
      return NULL;
    }
  if (!sbx_channel_store_has (self->channels, request->channel))
    {
      g_set_error_literal (error, SBX_BUS_ERROR, SBX_BUS_ERROR_NOT_SANDBOXED,
                           "The channel is not sandboxed; switch it on first");
      return NULL;
    }
  entry = g_new0 (Entry, 1);
  entry->turns = self;
  entry->told = told;
  entry->user_data = user_data;
  entry->turn = sbx_turn_new (self->context, request, &turn_events, entry);
  if (!sbx_queue_add (self->queue, request->channel, entry))
    {
      entry_free (entry);
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_QUEUE_FULL,
                   "%" G_GUINT64_FORMAT " turns wait in this channel already (MaxQueued= in sandboxd.conf)",
                   self->context->settings->config->max_queued);
      return NULL;
    }
  g_ptr_array_add (self->entries, entry);
  sbx_log_event (SBX_LOG_ID_TURN_ACCEPTED, LOG_INFO,
                 &(SbxLogFields){ .turn = sbx_turn_id (entry->turn),
                                  .channel = request->channel,
                                  .speaker = request->speaker_id,
                                  .principal = request->principal },
                 "Turn %s in %s was accepted", sbx_turn_id (entry->turn), request->channel);
  pump_soon (self);
  return entry->turn;
}

static Entry *
find_entry (SbxTurns *self, SbxTurn *turn)
{
  for (guint i = 0; i < self->entries->len; i++)
    if (((Entry *) self->entries->pdata[i])->turn == turn)
      return self->entries->pdata[i];
  return NULL;
}

SbxTurn *
sbx_turns_find (SbxTurns *self, const char *id)
{
  for (guint i = 0; i < self->entries->len; i++)
    {
      SbxTurn *turn = ((Entry *) self->entries->pdata[i])->turn;

      if (strcmp (sbx_turn_id (turn), id) == 0)
        return turn;
    }
  return NULL;
}

void
sbx_turns_forget (SbxTurns *self, SbxTurn *turn)
{
  Entry *entry = find_entry (self, turn);

  if (entry != NULL)
    entry->told = NULL;
}

GPtrArray *
sbx_turns_list (SbxTurns *self)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; i < self->entries->len; i++)
    g_ptr_array_add (list, ((Entry *) self->entries->pdata[i])->turn);
  return list;
}

void
sbx_turns_stop (SbxTurns *self, void (*stopped) (gpointer user_data), gpointer user_data)
{
  g_autoptr (GPtrArray) turns = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_turn_unref);

  self->stopping = TRUE;
  self->stopped = stopped;
  self->stopped_data = user_data;
  for (guint i = 0; i < self->entries->len; i++)
    g_ptr_array_add (turns, sbx_turn_ref (((Entry *) self->entries->pdata[i])->turn));
  for (guint i = 0; i < turns->len; i++)
    sbx_turn_stop (turns->pdata[i], SBX_FAILURE_RESTARTED);
  pump_soon (self);
}

guint
sbx_turns_n_running (SbxTurns *self)
{
  return sbx_queue_n_running (self->queue);
}

guint
sbx_turns_n_queued (SbxTurns *self)
{
  return sbx_queue_n_waiting (self->queue);
}

guint64
sbx_turns_n_finished (SbxTurns *self)
{
  return self->n_finished;
}

guint64
sbx_turns_n_failed (SbxTurns *self)
{
  return self->n_failed;
}
