/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/queue.h"

typedef struct {
  char *key;
  GQueue waiting;
  gboolean busy;
  gboolean ready; /* is in the queue's `ready` */
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

  g_queue_clear (&self->waiting);
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

gboolean
sbx_queue_add (SbxQueue *self, const char *channel_key, gpointer item)
{
  Channel *channel = g_hash_table_lookup (self->channels, channel_key);
  guint n_waiting = channel != NULL ? g_queue_get_length (&channel->waiting) : 0;
  /* An idle channel's item only passes through the queue. */
  guint max_waiting = channel != NULL && channel->busy ? self->max_waiting : MAX (self->max_waiting, 1);

  if (n_waiting >= max_waiting)
    return FALSE;
  if (channel == NULL)
    {
      channel = g_new0 (Channel, 1);
      channel->key = g_strdup (channel_key);
      g_queue_init (&channel->waiting);
      g_hash_table_insert (self->channels, channel->key, channel);
    }
  g_queue_push_tail (&channel->waiting, item);
  self->n_waiting++;
  queue_settle (self, channel);
  return TRUE;
}

gboolean
sbx_queue_remove (SbxQueue *self, const char *channel_key, gpointer item)
{
  Channel *channel = g_hash_table_lookup (self->channels, channel_key);

  if (channel == NULL || !g_queue_remove (&channel->waiting, item))
    return FALSE;
  self->n_waiting--;
  queue_settle (self, channel);
  return TRUE;
}

gpointer
sbx_queue_next (SbxQueue *self)
{
  Channel *channel;
  gpointer item;

  if (self->n_running >= self->max_running || g_queue_is_empty (&self->ready))
    return NULL;
  channel = g_queue_peek_head (&self->ready);
  item = g_queue_pop_head (&channel->waiting);
  channel->busy = TRUE;
  self->n_waiting--;
  self->n_running++;
  queue_settle (self, channel);
  return item;
}

void
sbx_queue_release (SbxQueue *self, const char *channel_key)
{
  Channel *channel = g_hash_table_lookup (self->channels, channel_key);

  g_return_if_fail (channel != NULL && channel->busy);

  channel->busy = FALSE;
  self->n_running--;
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
