/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/queue.h"

typedef struct {
  gpointer item;
  gboolean change;
} Waiting;

typedef struct {
  char *key;
  GQueue waiting; /* of Waiting */
  guint n_turns;  /* of those that wait */
  gboolean busy;
  gboolean placed; /* busy with a turn */
  gboolean ready;  /* is in the queue's `ready` */
} Channel;

struct _SbxQueue {
  guint max_running;
  guint max_waiting;
  guint n_running;
  guint n_waiting;
  GHashTable *channels; /* key -> Channel; only those in use */
  GQueue ready;         /* Channels that wait and are not busy, the longest waiting first */
};

static void
channel_free (gpointer data)
{
  Channel *self = data;

  g_queue_clear_full (&self->waiting, g_free);
  g_free (self->key);
  g_free (self);
}

SbxQueue *
sbx_queue_new (guint max_running, guint max_waiting)
{
  SbxQueue *self = g_new0 (SbxQueue, 1);

  self->max_running = max_running;
  self->max_waiting = max_waiting;
  self->channels = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, channel_free);
  g_queue_init (&self->ready);
  return self;
}

void
sbx_queue_free (SbxQueue *self)
{
  if (self == NULL)
    return;
  g_queue_clear (&self->ready);
  g_hash_table_unref (self->channels);
  g_free (self);
}

void
sbx_queue_set_bounds (SbxQueue *self, guint max_running, guint max_waiting)
{
  self->max_running = max_running;
  self->max_waiting = max_waiting;
}

/* Puts the channel where it belongs after a change: in line, out of it, or away. */
static void
queue_settle (SbxQueue *self, Channel *channel)
{
  gboolean should = !channel->busy && !g_queue_is_empty (&channel->waiting);

  if (should && !channel->ready)
    g_queue_push_tail (&self->ready, channel);
  else if (!should && channel->ready)
    g_queue_remove (&self->ready, channel);
  channel->ready = should;
  if (!channel->busy && !should)
    g_hash_table_remove (self->channels, channel->key);
}

static void
queue_push (SbxQueue *self, Channel *channel, const char *channel_key, gpointer item, gboolean change)
{
  Waiting *waiting = g_new0 (Waiting, 1);

  if (channel == NULL)
    {
      channel = g_new0 (Channel, 1);
      channel->key = g_strdup (channel_key);
      g_queue_init (&channel->waiting);
      g_hash_table_insert (self->channels, channel->key, channel);
    }
  waiting->item = item;
  waiting->change = change;
  g_queue_push_tail (&channel->waiting, waiting);
  if (!change)
    {
      channel->n_turns++;
      self->n_waiting++;
    }
  queue_settle (self, channel);
}

gboolean
sbx_queue_add (SbxQueue *self, const char *channel_key, gpointer item)
{
  Channel *channel = g_hash_table_lookup (self->channels, channel_key);
  /* An idle channel's item only passes through the queue. */
  guint max_waiting = channel != NULL && channel->placed ? self->max_waiting : MAX (self->max_waiting, 1);

  if (channel != NULL && channel->n_turns >= max_waiting)
    return FALSE;
  queue_push (self, channel, channel_key, item, FALSE);
  return TRUE;
}

gboolean
sbx_queue_add_change (SbxQueue *self, const char *channel_key, gpointer item)
{
  Channel *channel = g_hash_table_lookup (self->channels, channel_key);

  if (channel != NULL && g_queue_get_length (&channel->waiting) - channel->n_turns >= SBX_QUEUE_MAX_CHANGES)
    return FALSE;
  queue_push (self, channel, channel_key, item, TRUE);
  return TRUE;
}

/* Takes it out of its channel's line, which the caller then settles. */
static gpointer
queue_take (SbxQueue *self, Channel *channel, GList *link)
{
  g_autofree Waiting *waiting = link->data;

  g_queue_delete_link (&channel->waiting, link);
  if (!waiting->change)
    {
      channel->n_turns--;
      self->n_waiting--;
    }
  return waiting->item;
}

gboolean
sbx_queue_remove (SbxQueue *self, const char *channel_key, gpointer item)
{
  Channel *channel = g_hash_table_lookup (self->channels, channel_key);

  for (GList *link = channel != NULL ? channel->waiting.head : NULL; link != NULL; link = link->next)
    if (((Waiting *) link->data)->item == item)
      {
        (void) queue_take (self, channel, link);
        queue_settle (self, channel);
        return TRUE;
      }
  return FALSE;
}

gpointer
sbx_queue_next (SbxQueue *self)
{
  Channel *channel = NULL;
  gpointer item;

  for (GList *link = self->ready.head; link != NULL; link = link->next)
    {
      Channel *candidate = link->data;

      if (((Waiting *) candidate->waiting.head->data)->change)
        {
          item = queue_take (self, candidate, candidate->waiting.head);
          candidate->busy = TRUE;
          queue_settle (self, candidate);
          return item;
        }
      if (channel == NULL)
        channel = candidate;
    }
  if (channel == NULL || self->n_running >= self->max_running)
    return NULL;
  item = queue_take (self, channel, channel->waiting.head);
  channel->busy = channel->placed = TRUE;
  self->n_running++;
  queue_settle (self, channel);
  return item;
}

void
sbx_queue_release (SbxQueue *self, const char *channel_key)
{
  Channel *channel = g_hash_table_lookup (self->channels, channel_key);

  g_return_if_fail (channel != NULL && channel->busy);

  self->n_running -= channel->placed ? 1 : 0;
  channel->busy = channel->placed = FALSE;
  queue_settle (self, channel);
}

guint
sbx_queue_n_running (SbxQueue *self)
{
  return self->n_running;
}

guint
sbx_queue_n_waiting (SbxQueue *self)
{
  return self->n_waiting;
}
