/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>

#include "base/log.h"
#include "base/source.h"
#include "bus/errors.h"
#include "turn/disk.h"
#include "turn/turns-private.h"

void
sbx_turn_entry_free (gpointer data)
{
  SbxTurnEntry *self = data;

  sbx_turn_unref (self->turn);
  g_free (self->channel);
  g_free (self);
}

void
sbx_turns_counts_changed (SbxTurns *self)
{
  if (self->events->counts_changed != NULL)
    self->events->counts_changed (self->user_data);
}

/* --- the queue --- */

/* Much may have changed while it waited. */
static void
admit (SbxTurns *self, SbxTurn *turn)
{
  const SbxTurnContext *context = self->context;
  g_autoptr (GError) error = NULL;

  if (!sbx_channel_store_has (self->channels, sbx_turn_channel (turn)))
    sbx_turn_stop (turn, SBX_FAILURE_MODE_OFF);
  else if (sbx_disk_is_low (context->workspaces_root, context->settings->config->min_free_bytes))
    sbx_turn_stop (turn, SBX_FAILURE_DISK_LOW);
  else if (!sbx_record_store_start (context->records, sbx_turn_id (turn), &error))
    sbx_turn_stop_with (turn, SBX_FAILURE_INTERNAL, error);
  else
    sbx_turn_admit (turn);
}

/* Whoever waits to hear that a turn was taken has heard it now. */
static void
on_all_kept (const GError *error, gpointer user_data)
{
  SbxTurns *self = user_data;

  self->stopped (self->stopped_data);
}

/* When the last turn has left, and what others asked for is on the disk. */
static void
try_stop (SbxTurns *self)
{
  if (!self->stopping || self->told_stopped || self->entries->len > 0 || self->changes->len > 0
      || self->n_fresh > 0)
    return;
  self->told_stopped = TRUE;
  sbx_record_store_when_kept (self->context->records, on_all_kept, self);
}

/* Maybe for what a turn that rests behind its reply has: its channel, its place. Where nobody may wait, they
 * are turned away until it has left. */
static gboolean
somebody_waits (SbxTurns *self)
{
  return self->stopping || self->changes->len > 0 || sbx_queue_n_waiting (self->queue) > 0
         || self->context->settings->config->max_queued == 0;
}

static gboolean
on_pump (gpointer user_data)
{
  SbxTurns *self = user_data;
  SbxTurnEntry *entry;

  g_clear_pointer (&self->pump_source, g_source_unref);
  while (!self->paused && (entry = sbx_queue_next (self->queue)) != NULL)
    {
      if (entry->turn == NULL)
        sbx_turns_change_mode (self, entry);
      else
        admit (self, entry->turn);
    }
  sbx_rest_set_wanted (self->context->rest, somebody_waits (self));
  sbx_turns_counts_changed (self);
  try_stop (self);
  return G_SOURCE_REMOVE;
}

/* From the loop: an outcome may come while a caller is still being answered. */
void
sbx_turns_pump_soon (SbxTurns *self)
{
  if (self->pump_source != NULL)
    return;
  self->pump_source = sbx_source_soon (on_pump, self);
}

/* --- the registry --- */

static void
on_record_gone (const char *turn, gpointer user_data)
{
  SbxTurns *self = user_data;

  if (self->events->turn_gone != NULL)
    self->events->turn_gone (turn, self->user_data);
}

void
sbx_turns_look (SbxTurns *self, gint64 now_usec)
{
  g_autoptr (GPtrArray) turns = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_turn_unref);

  for (guint i = 0; i < self->entries->len; i++)
    g_ptr_array_add (turns, sbx_turn_ref (((SbxTurnEntry *) self->entries->pdata[i])->turn));
  for (guint i = 0; i < turns->len; i++)
    sbx_turn_unstick (turns->pdata[i], now_usec);
}

static gboolean
on_look (gpointer user_data)
{
  sbx_turns_look (user_data, g_get_monotonic_time ());
  return G_SOURCE_CONTINUE;
}

SbxTurns *
sbx_turns_new (SbxTurnContext *context, SbxChannelStore *channels, const SbxTurnsEvents *events,
               gpointer user_data)
{
  static const SbxTurnsEvents no_events = { 0 };
  const SbxConfig *config = context->settings->config;
  SbxTurns *self = g_new0 (SbxTurns, 1);

  self->context = context;
  self->channels = channels;
  self->queue = sbx_queue_new ((guint) config->max_turns, (guint) config->max_queued);
  self->rate = sbx_speaker_rate_new ((guint) config->speaker_turns, (gint64) config->speaker_window_usec);
  self->entries = g_ptr_array_new_with_free_func (sbx_turn_entry_free);
  self->changes = g_ptr_array_new_with_free_func (sbx_turn_entry_free);
  self->messages = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->waits = g_ptr_array_new ();
  self->statistics = sbx_statistics_new ();
  self->events = events != NULL ? events : &no_events;
  self->user_data = user_data;
  sbx_record_store_set_gone (context->records, on_record_gone, self);
  self->look_source = g_timeout_source_new_seconds (SBX_TURNS_LOOK_SEC);
  g_source_set_callback (self->look_source, on_look, self, NULL);
  g_source_attach (self->look_source, NULL);
  return self;
}

void
sbx_turns_free (SbxTurns *self)
{
  if (self == NULL)
    return;
  sbx_record_store_set_gone (self->context->records, NULL, NULL);
  sbx_source_clear (&self->pump_source);
  sbx_source_clear (&self->look_source);
  while (self->waits->len > 0)
    sbx_turn_wait_cancel (self->waits->pdata[0]);
  g_ptr_array_unref (self->waits);
  g_ptr_array_unref (self->entries);
  g_ptr_array_unref (self->changes);
  g_hash_table_unref (self->messages);
  sbx_statistics_free (self->statistics);
  sbx_speaker_rate_free (self->rate);
  sbx_queue_free (self->queue);
  g_free (self);
}

void
sbx_turns_reconfigure (SbxTurns *self)
{
  const SbxConfig *config = self->context->settings->config;

  sbx_queue_set_bounds (self->queue, (guint) config->max_turns, (guint) config->max_queued);
  sbx_speaker_rate_set (self->rate, (guint) config->speaker_turns, (gint64) config->speaker_window_usec);
  sbx_turns_pump_soon (self);
}

/* --- a turn's events --- */

static void
on_turn_told (SbxTurn *turn, SbxOutcome *outcome, gpointer user_data)
{
  SbxTurnEntry *entry = user_data;
  SbxTurns *self = entry->turns;
  const SbxTurnRequest *request = sbx_turn_request (turn);

  self->n_finished++;
  if (outcome->kind == SBX_OUTCOME_FAILED || outcome->kind == SBX_OUTCOME_DEADLINE)
    self->n_failed++;
  sbx_statistics_add (self->statistics, request->channel, outcome, sbx_turn_usage (turn));
  sbx_record_store_finish (self->context->records, sbx_turn_id (turn), request, sbx_turn_accepted_usec (turn),
                           outcome);
  if (request->message_id != NULL)
    {
      g_autofree char *key = sbx_record_message_key (request->uid, request->channel, request->message_id);

      g_hash_table_remove (self->messages, key);
    }
  sbx_turns_tell (self, sbx_turn_id (turn), outcome);
}

static void
on_turn_changed (SbxTurn *turn, gpointer user_data)
{
  SbxTurnEntry *entry = user_data;
  SbxTurns *self = entry->turns;

  if (self->events->turn_changed != NULL)
    self->events->turn_changed (turn, self->user_data);
  sbx_turns_counts_changed (self);
}

static void
on_turn_left (SbxTurn *turn, gpointer user_data)
{
  SbxTurnEntry *entry = user_data;
  SbxTurns *self = entry->turns;

  sbx_statistics_add_finishing (self->statistics, sbx_turn_channel (turn),
                                sbx_turn_usage (turn)->phase_usec[SBX_TURN_STATE_FINISHING]);
  if (!sbx_queue_remove (self->queue, sbx_turn_channel (turn), entry))
    sbx_queue_release (self->queue, sbx_turn_channel (turn));
  g_ptr_array_remove (self->entries, entry);
  sbx_turns_pump_soon (self);
}

static const SbxTurnEvents turn_events = { on_turn_told, on_turn_changed, on_turn_left };

SbxTurnEntry *
sbx_turns_add (SbxTurns *self, const char *id, const SbxTurnRequest *request, gint64 accepted_usec)
{
  SbxTurnEntry *entry = g_new0 (SbxTurnEntry, 1);

  entry->turns = self;
  entry->turn = sbx_turn_new (self->context, id, request, accepted_usec, &turn_events, entry);
  if (!sbx_queue_add (self->queue, request->channel, entry))
    {
      sbx_turn_entry_free (entry);
      return NULL;
    }
  g_ptr_array_add (self->entries, entry);
  if (request->message_id != NULL)
    g_hash_table_replace (self->messages,
                          sbx_record_message_key (request->uid, request->channel, request->message_id),
                          (gpointer) sbx_turn_id (entry->turn));
  return entry;
}

void
sbx_turns_take_out (SbxTurns *self, SbxTurnEntry *entry)
{
  const SbxTurnRequest *request = sbx_turn_request (entry->turn);

  if (request->message_id != NULL)
    {
      g_autofree char *key = sbx_record_message_key (request->uid, request->channel, request->message_id);

      g_hash_table_remove (self->messages, key);
    }
  (void) sbx_queue_remove (self->queue, request->channel, entry);
  g_ptr_array_remove (self->entries, entry);
}

/* --- ending --- */

gboolean
sbx_turns_cancel (SbxTurns *self, const char *id)
{
  SbxTurn *turn = sbx_turns_find (self, id);

  if (turn == NULL || sbx_turn_state (turn) >= SBX_TURN_STATE_FINISHING)
    return FALSE;
  sbx_turn_stop (turn, SBX_FAILURE_CANCELLED);
  return TRUE;
}

static gboolean
is_chosen (const SbxTurnChoice *choice, const SbxTurn *turn)
{
  const SbxTurnRequest *request = sbx_turn_request (turn);

  return strcmp (request->channel, choice->channel) == 0
         && (choice->uid == NULL || request->uid == *choice->uid)
         && (choice->speaker_id == NULL || strcmp (request->speaker_id, choice->speaker_id) == 0)
         && (choice->before_usec == 0 || sbx_turn_accepted_usec (turn) < choice->before_usec);
}

guint
sbx_turns_replace (SbxTurns *self, const char *id)
{
  const SbxTurn *turn = sbx_turns_find (self, id);
  const SbxTurnRequest *request;

  if (turn == NULL)
    return 0;
  request = sbx_turn_request (turn);
  return sbx_turns_cancel_chosen (self, &(SbxTurnChoice){ .channel = request->channel,
                                                          .uid = &request->uid,
                                                          .speaker_id = request->speaker_id,
                                                          .before_usec = sbx_turn_accepted_usec (turn) });
}

guint
sbx_turns_cancel_chosen (SbxTurns *self, const SbxTurnChoice *choice)
{
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  guint n = 0;

  for (guint i = 0; i < self->entries->len; i++)
    {
      const SbxTurn *turn = ((SbxTurnEntry *) self->entries->pdata[i])->turn;

      if (is_chosen (choice, turn))
        g_ptr_array_add (ids, g_strdup (sbx_turn_id (turn)));
    }
  /* The last first, so that none of them gets the place of one before. */
  for (guint i = ids->len; i > 0; i--)
    n += sbx_turns_cancel (self, ids->pdata[i - 1]) ? 1 : 0;
  return n;
}

gboolean
sbx_turns_purge (SbxTurns *self, const char *channel)
{
  gboolean none = TRUE;

  (void) sbx_turns_cancel_chosen (self, &(SbxTurnChoice){ .channel = channel });
  sbx_record_store_purge (self->context->records, channel);
  sbx_resets_purge (self->context->resets, channel);
  sbx_statistics_purge (self->statistics, channel);
  for (guint i = self->entries->len; i > 0; i--)
    {
      SbxTurn *turn = ((SbxTurnEntry *) self->entries->pdata[i - 1])->turn;

      if (strcmp (sbx_turn_channel (turn), channel) != 0)
        continue;
      sbx_turn_hurry (turn);
      none = FALSE;
    }
  return none;
}

/* One that waits and needs no caller: its file stays, and the next daemon takes it up. */
static gboolean
put_off (SbxTurns *self, const char *id)
{
  for (guint i = 0; i < self->entries->len; i++)
    {
      SbxTurnEntry *entry = self->entries->pdata[i];

      if (strcmp (sbx_turn_id (entry->turn), id) != 0)
        continue;
      if (sbx_turn_state (entry->turn) != SBX_TURN_STATE_QUEUED || !sbx_turn_request (entry->turn)->detached)
        return FALSE;
      sbx_turns_take_out (self, entry);
      sbx_turns_tell (self, id, NULL);
      return TRUE;
    }
  return TRUE;
}

void
sbx_turns_stop (SbxTurns *self, void (*stopped) (gpointer user_data), gpointer user_data)
{
  g_autoptr (GPtrArray) turns = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_turn_unref);

  self->stopping = TRUE;
  self->stopped = stopped;
  self->stopped_data = user_data;
  for (guint i = 0; i < self->entries->len; i++)
    g_ptr_array_add (turns, sbx_turn_ref (((SbxTurnEntry *) self->entries->pdata[i])->turn));
  for (guint i = 0; i < turns->len; i++)
    if (!put_off (self, sbx_turn_id (turns->pdata[i])))
      sbx_turn_stop (turns->pdata[i], SBX_FAILURE_RESTARTED);
  sbx_turns_put_off_changes (self);
  sbx_turns_pump_soon (self);
}

gboolean
sbx_turns_is_stopping (const SbxTurns *self)
{
  return self->stopping;
}

/* --- looking --- */

SbxTurn *
sbx_turns_find (SbxTurns *self, const char *id)
{
  for (guint i = 0; i < self->entries->len; i++)
    {
      SbxTurn *turn = ((SbxTurnEntry *) self->entries->pdata[i])->turn;

      if (strcmp (sbx_turn_id (turn), id) == 0)
        return turn;
    }
  return NULL;
}

GPtrArray *
sbx_turns_list (SbxTurns *self)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; i < self->entries->len; i++)
    g_ptr_array_add (list, ((SbxTurnEntry *) self->entries->pdata[i])->turn);
  return list;
}

const char *
sbx_turns_waits_for (SbxTurns *self, const SbxTurn *turn)
{
  if (sbx_turn_state (turn) != SBX_TURN_STATE_QUEUED)
    return sbx_turn_waits_for (turn);
  for (guint i = 0; i < self->entries->len; i++)
    {
      const SbxTurn *other = ((SbxTurnEntry *) self->entries->pdata[i])->turn;

      if (other == turn)
        break;
      if (strcmp (sbx_turn_channel (other), sbx_turn_channel (turn)) == 0)
        return "turn";
    }
  return "place";
}

gboolean
sbx_turns_would_wait (SbxTurns *self, const char *channel)
{
  guint n = 0;

  for (guint i = 0; i < self->entries->len; i++)
    {
      const SbxTurn *turn = ((SbxTurnEntry *) self->entries->pdata[i])->turn;

      if (sbx_turn_rests (turn))
        continue;
      if (strcmp (sbx_turn_channel (turn), channel) == 0)
        return TRUE;
      n++;
    }
  return n >= self->context->settings->config->max_turns;
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

guint
sbx_turns_n_changes (SbxTurns *self)
{
  return self->changes->len;
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

guint64
sbx_turns_n_not_taken (SbxTurns *self)
{
  return self->n_not_taken;
}

SbxStatistics *
sbx_turns_statistics (SbxTurns *self)
{
  return self->statistics;
}
