/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/prepared-pool.h"

typedef struct {
  char *name;
  gboolean in_use;
  gboolean running; /* its turn: what it should have is kept for it, not made */
  gint64 used_usec;
  guint failures;
  gint64 not_before_usec; /* after a failure */
  GQueue items;           /* the oldest first */
} Channel;

struct _SbxPreparedPool {
  guint total;
  guint per_channel;
  gint64 idle_usec;
  gint64 busy_since_usec;  /* the first of the turns that came without a rest between them */
  gint64 rests_until_usec; /* nothing is wanted before */
  GQueue channels;         /* of Channel, the last used first */
};

static void
channel_free (gpointer data)
{
  Channel *self = data;

  g_queue_clear (&self->items);
  g_free (self->name);
  g_free (self);
}

SbxPreparedPool *
sbx_prepared_pool_new (guint total, guint per_channel, gint64 idle_usec)
{
  SbxPreparedPool *self = g_new0 (SbxPreparedPool, 1);

  g_queue_init (&self->channels);
  sbx_prepared_pool_set_bounds (self, total, per_channel, idle_usec);
  return self;
}

void
sbx_prepared_pool_free (SbxPreparedPool *self)
{
  if (self == NULL)
    return;
  g_queue_clear_full (&self->channels, channel_free);
  g_free (self);
}

void
sbx_prepared_pool_set_bounds (SbxPreparedPool *self, guint total, guint per_channel, gint64 idle_usec)
{
  self->total = total;
  self->per_channel = per_channel;
  self->idle_usec = idle_usec;
}

static Channel *
find (SbxPreparedPool *self, const char *name)
{
  for (const GList *link = self->channels.head; link != NULL; link = link->next)
    if (g_str_equal (((Channel *) link->data)->name, name))
      return link->data;
  return NULL;
}

static gboolean
is_in_use (const SbxPreparedPool *self, const Channel *channel, gint64 now_usec)
{
  return channel->in_use && now_usec - channel->used_usec < self->idle_usec;
}

/* How many items the channel at link should have: what those before it leave of the total. */
static guint
share (const SbxPreparedPool *self, const GList *link, gint64 now_usec)
{
  guint left = self->total;

  for (const GList *before = self->channels.head; before != link; before = before->next)
    if (is_in_use (self, before->data, now_usec))
      left -= MIN (left, self->per_channel);
  return is_in_use (self, link->data, now_usec) ? MIN (left, self->per_channel) : 0;
}

/* Those that hold nothing and are not in use, and the oldest beyond the bound. */
static void
tidy (SbxPreparedPool *self, gint64 now_usec)
{
  GList *link = self->channels.tail;

  while (link != NULL)
    {
      GList *before = link->prev;
      Channel *channel = link->data;

      if (channel->items.length == 0
          && (!is_in_use (self, channel, now_usec) || self->channels.length > SBX_PREPARED_MAX_CHANNELS))
        {
          g_queue_delete_link (&self->channels, link);
          channel_free (channel);
        }
      link = before;
    }
}

static void
rest (SbxPreparedPool *self, gint64 now_usec)
{
  if (now_usec >= self->rests_until_usec)
    self->busy_since_usec = now_usec;
  self->rests_until_usec =
    MIN (now_usec + SBX_PREPARED_REST_USEC, self->busy_since_usec + SBX_PREPARED_MAX_REST_USEC);
}

void
sbx_prepared_pool_begun (SbxPreparedPool *self, const char *name, gint64 now_usec)
{
  Channel *channel = find (self, name);

  rest (self, now_usec);
  if (channel != NULL)
    channel->running = TRUE;
}

void
sbx_prepared_pool_used (SbxPreparedPool *self, const char *name, gint64 now_usec)
{
  Channel *channel = find (self, name);

  rest (self, now_usec);
  if (self->total == 0)
    return;
  if (channel != NULL)
    (void) g_queue_remove (&self->channels, channel);
  else
    {
      channel = g_new0 (Channel, 1);
      channel->name = g_strdup (name);
      g_queue_init (&channel->items);
    }
  channel->in_use = TRUE;
  channel->running = FALSE;
  channel->used_usec = now_usec;
  channel->failures = 0;
  channel->not_before_usec = now_usec;
  g_queue_push_head (&self->channels, channel);
  tidy (self, now_usec);
}

void
sbx_prepared_pool_forget (SbxPreparedPool *self, const char *name)
{
  Channel *channel = find (self, name);

  if (channel != NULL)
    channel->in_use = FALSE;
}

void
sbx_prepared_pool_add (SbxPreparedPool *self, const char *name, gpointer item)
{
  Channel *channel = find (self, name);

  g_return_if_fail (channel != NULL);

  g_queue_push_tail (&channel->items, item);
}

gboolean
sbx_prepared_pool_remove (SbxPreparedPool *self, gpointer item)
{
  for (const GList *link = self->channels.head; link != NULL; link = link->next)
    if (g_queue_remove (&((Channel *) link->data)->items, item))
      return TRUE;
  return FALSE;
}

gpointer
sbx_prepared_pool_oldest (SbxPreparedPool *self, const char *name)
{
  Channel *channel = find (self, name);

  return channel != NULL ? g_queue_peek_head (&channel->items) : NULL;
}

void
sbx_prepared_pool_failed (SbxPreparedPool *self, const char *name, gint64 now_usec)
{
  Channel *channel = find (self, name);

  if (channel == NULL)
    return;
  channel->not_before_usec =
    now_usec + (SBX_PREPARED_FIRST_PAUSE_USEC << MIN (channel->failures, SBX_PREPARED_TRIES));
  channel->failures++;
}

gpointer
sbx_prepared_pool_surplus (SbxPreparedPool *self, gint64 now_usec, const char **ret_why)
{
  for (const GList *link = self->channels.tail; link != NULL; link = link->prev)
    {
      Channel *channel = link->data;

      if (channel->items.length <= share (self, link, now_usec))
        continue;
      if (!channel->in_use)
        *ret_why = "not-in-use";
      else
        *ret_why = is_in_use (self, channel, now_usec) ? "others-in-use" : "idle";
      /* The one that is least far: the oldest is the likeliest to be ready. */
      return g_queue_peek_tail (&channel->items);
    }
  tidy (self, now_usec);
  return NULL;
}

static gboolean
may_be_tried (const Channel *channel)
{
  return !channel->running && channel->failures < SBX_PREPARED_TRIES;
}

const char *
sbx_prepared_pool_wanted (SbxPreparedPool *self, gint64 now_usec)
{
  if (now_usec < self->rests_until_usec)
    return NULL;
  for (const GList *link = self->channels.head; link != NULL; link = link->next)
    {
      const Channel *channel = link->data;

      if (channel->items.length < share (self, link, now_usec) && may_be_tried (channel)
          && now_usec >= channel->not_before_usec)
        return channel->name;
    }
  return NULL;
}

gint64
sbx_prepared_pool_next_usec (SbxPreparedPool *self, gint64 now_usec)
{
  gint64 next = -1;

  for (const GList *link = self->channels.head; link != NULL; link = link->next)
    {
      const Channel *channel = link->data;
      gint64 ends = channel->used_usec + self->idle_usec;
      gint64 from = MAX (channel->not_before_usec, self->rests_until_usec);
      gint64 at = -1;

      if (!is_in_use (self, channel, now_usec))
        continue;
      if (from > now_usec && may_be_tried (channel) && channel->items.length < share (self, link, now_usec))
        at = MIN (from, ends);
      else
        /* Its end leaves room for another, even where it holds nothing itself. */
        at = ends;
      if (next < 0 || at < next)
        next = at;
    }
  return next;
}
