/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/prepared.h"

#include "base/log.h"
#include "base/source.h"
#include "turn/disk.h"
#include "turn/prepared-pool.h"
#include "turn/turn.h"

/* A scope ends by itself where nobody is left to end it: behind the longest that one may wait (of several,
 * each waits for one turn more, and for each at most PreparedIdle=) and its turn may take. */
#define SCOPE_MARGIN_USEC (30u * G_USEC_PER_SEC)
/* While the disk is full, or Docker does not say what the image is. */
#define LOOK_AGAIN_USEC (10 * (gint64) G_USEC_PER_SEC)

struct _SbxPrepared {
  SbxTurnContext *context;
  SbxPreparedPool *pool;
  GPtrArray *items;     /* of Item, in the pool or ending */
  GSource *pump_source; /* idle, or a timer */
  GCancellable *cancellable;
  gboolean asking; /* for the image */
  gboolean ask_again;
  gboolean stopping;
  void (*changed) (gpointer user_data);
  gpointer user_data;
  void (*stopped) (gpointer user_data);
  gpointer stopped_data;
};

typedef struct {
  SbxPrepared *prepared;
  SbxSandbox *sandbox;
  char *channel;
  gboolean ready;
} Item;

static void
item_free (gpointer data)
{
  Item *self = data;

  sbx_sandbox_unref (self->sandbox);
  g_free (self->channel);
  g_free (self);
}

static void pump_soon (SbxPrepared *self);
static gboolean on_pump (gpointer user_data);

static void
tell_changed (SbxPrepared *self)
{
  if (self->changed != NULL)
    self->changed (self->user_data);
}

guint
sbx_prepared_n_waiting (SbxPrepared *self)
{
  guint n = 0;

  for (guint i = 0; i < self->items->len; i++)
    n += ((Item *) self->items->pdata[i])->ready ? 1 : 0;
  return n;
}

static void
set_ready (Item *item, gboolean ready)
{
  if (item->ready == ready)
    return;
  item->ready = ready;
  tell_changed (item->prepared);
}

/* Out of the pool and on its way out of the world; the item is freed when nothing is left. */
static void
throw_away (Item *item, const char *why)
{
  SbxPrepared *self = item->prepared;
  const char *const more[] = { "SANDBOX_ID", sbx_sandbox_id (item->sandbox), NULL };

  if (!sbx_prepared_pool_remove (self->pool, item))
    return;
  sbx_log_event (SBX_LOG_ID_PREPARED_DROPPED, LOG_INFO,
                 &(SbxLogFields){ .channel = item->channel, .reason = why, .more = more },
                 "A prepared turn of %s is thrown away: %s", item->channel, why);
  set_ready (item, FALSE);
  sbx_sandbox_end (item->sandbox, TRUE);
  pump_soon (self);
}

static void
fail (Item *item, const char *why, const GError *error)
{
  SbxPrepared *self = item->prepared;

  if (error != NULL)
    sbx_log (LOG_NOTICE, &(SbxLogFields){ .channel = item->channel, .reason = why },
             "A prepared turn of %s failed: %s", item->channel, error->message);
  sbx_prepared_pool_failed (self->pool, item->channel, g_get_monotonic_time ());
  throw_away (item, why);
}

/* Of that image which the name stands for now; without knowing it, none is. One that is still being made may
 * not have asked yet. */
static gboolean
has_right_image (SbxPrepared *self, const Item *item)
{
  const SbxImage *known =
    sbx_image_watch_known (self->context->images, self->context->settings->config->image);
  const char *id = sbx_sandbox_image_id (item->sandbox);

  return id == NULL || (known != NULL && g_str_equal (id, known->id));
}

/* --- what comes of one that waits --- */

static void
on_ready (gpointer user_data)
{
  Item *item = user_data;
  SbxPrepared *self = item->prepared;
  const char *const more[] = { "SANDBOX_ID", sbx_sandbox_id (item->sandbox), NULL };

  sbx_log_event (SBX_LOG_ID_PREPARED_READY, LOG_INFO,
                 &(SbxLogFields){ .channel = item->channel,
                                  .container = sbx_sandbox_container (item->sandbox),
                                  .more = more },
                 "The next turn of %s is prepared", item->channel);
  set_ready (item, TRUE);
  /* It can only be used while it is known what the image is. */
  if (!has_right_image (self, item))
    sbx_prepared_images_changed (self);
}

static void
on_failed (SbxFailure failure, const GError *error, gpointer user_data)
{
  fail (user_data, sbx_failure_name (failure), error);
}

static void
on_exited (gint64 exit_status, gpointer user_data)
{
  fail (user_data, "worker-ended", NULL);
}

static void
on_closed (const GError *error, gpointer user_data)
{
  fail (user_data, "broker-ended", error);
}

static void
on_gone (gpointer user_data)
{
  Item *item = user_data;
  SbxPrepared *self = item->prepared;

  g_ptr_array_remove_fast (self->items, item);
  pump_soon (self);
}

/* No turn has begun, so the broker has nothing to say of one; what a waiting worker was refused is no turn's
 * audit. */
static const SbxSandboxEvents events = {
  .ready = on_ready,
  .failed = on_failed,
  .exited = on_exited,
  .closed = on_closed,
  .gone = on_gone,
};

/* --- making --- */

static void
make (SbxPrepared *self, const char *channel)
{
  const SbxConfig *config = self->context->settings->config;
  g_autofree char *id = sbx_turn_make_id ();
  Item *item = g_new0 (Item, 1);

  item->prepared = self;
  item->channel = g_strdup (channel);
  item->sandbox = sbx_sandbox_new (self->context, id, channel,
                                   config->prepared_per_channel * config->prepared_idle_usec
                                     + SBX_MAX_DEADLINE_MSEC * UINT64_C (1000) + SCOPE_MARGIN_USEC,
                                   &events, item);
  g_ptr_array_add (self->items, item);
  sbx_prepared_pool_add (self->pool, channel, item);
  sbx_sandbox_make (item->sandbox, TRUE);
}

static void
schedule (SbxPrepared *self, GSource *source)
{
  sbx_source_clear (&self->pump_source);
  self->pump_source = source;
  g_source_set_callback (source, on_pump, self, NULL);
  g_source_attach (source, NULL);
}

static void
pump_at (SbxPrepared *self, gint64 usec)
{
  GSource *source = g_timeout_source_new (G_MAXUINT);

  g_source_set_ready_time (source, usec);
  schedule (self, source);
}

/* From the loop: a turn's outcome is being told, or a sandbox tells of itself. */
static void
pump_soon (SbxPrepared *self)
{
  GSource *source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  schedule (self, source);
}

static gboolean
on_pump (gpointer user_data)
{
  SbxPrepared *self = user_data;
  const SbxTurnContext *context = self->context;
  gint64 now = g_get_monotonic_time ();
  const char *why = NULL;
  const char *channel;
  gint64 next;
  Item *item;

  sbx_source_clear (&self->pump_source);
  while ((item = sbx_prepared_pool_surplus (self->pool, now, &why)) != NULL)
    throw_away (item, why);
  if (self->stopped != NULL && self->items->len == 0)
    {
      void (*stopped) (gpointer) = g_steal_pointer (&self->stopped);

      stopped (self->stopped_data);
      return G_SOURCE_REMOVE;
    }
  next = sbx_prepared_pool_next_usec (self->pool, now);
  if (sbx_prepared_pool_wanted (self->pool, now) != NULL
      && sbx_disk_is_low (context->workspaces_root, context->settings->config->min_free_bytes))
    next = MIN (next, now + LOOK_AGAIN_USEC);
  else
    {
      while ((channel = sbx_prepared_pool_wanted (self->pool, now)) != NULL)
        make (self, channel);
      next = sbx_prepared_pool_next_usec (self->pool, now);
    }
  if (next >= 0)
    pump_at (self, next);
  return G_SOURCE_REMOVE;
}

/* --- the image --- */

static void
image_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbxPrepared *self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxImage) image = sbx_image_watch_ask_finish (result, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  self->asking = FALSE;
  for (guint i = 0; i < self->items->len; i++)
    {
      Item *item = self->items->pdata[i];
      const char *id = sbx_sandbox_image_id (item->sandbox);

      /* Also where Docker has none or does not say: what is not known cannot be used. */
      if (id != NULL && (image == NULL || !g_str_equal (id, image->id)))
        throw_away (item, "image");
    }
  if (self->ask_again)
    sbx_prepared_images_changed (self);
}

void
sbx_prepared_images_changed (SbxPrepared *self)
{
  self->ask_again = self->asking;
  if (self->asking || self->stopping || self->items->len == 0)
    return;
  self->asking = TRUE;
  sbx_image_watch_ask_async (self->context->images, self->context->settings->config->image, self->cancellable,
                             image_done, self);
}

/* --- using --- */

SbxSandbox *
sbx_prepared_take (SbxPrepared *self, const char *channel, const SbxSandboxEvents *owner_events,
                   gpointer user_data, gboolean *ret_ready)
{
  Item *item = sbx_prepared_pool_oldest (self->pool, channel);
  SbxSandbox *sandbox;

  sbx_prepared_pool_begun (self->pool, channel, g_get_monotonic_time ());
  if (item == NULL)
    return NULL;
  if (!has_right_image (self, item) || (item->ready && !sbx_sandbox_is_fit (item->sandbox)))
    {
      throw_away (item, "not-fit");
      return NULL;
    }
  (void) sbx_prepared_pool_remove (self->pool, item);
  *ret_ready = item->ready;
  set_ready (item, FALSE);
  sandbox = g_steal_pointer (&item->sandbox);
  sbx_sandbox_set_owner (sandbox, owner_events, user_data);
  g_ptr_array_remove_fast (self->items, item);
  return sandbox;
}

void
sbx_prepared_give_back (SbxPrepared *self, SbxSandbox *sandbox)
{
  Item *item = g_new0 (Item, 1);

  item->prepared = self;
  item->sandbox = sandbox;
  g_ptr_array_add (self->items, item);
  sbx_sandbox_set_owner (sandbox, &events, item);
  sbx_sandbox_end (sandbox, TRUE);
}

void
sbx_prepared_used (SbxPrepared *self, const char *channel)
{
  if (self->stopping)
    return;
  sbx_prepared_pool_used (self->pool, channel, g_get_monotonic_time ());
  pump_soon (self);
}

static void
throw_all (SbxPrepared *self, const char *channel, const char *why)
{
  for (guint i = 0; i < self->items->len; i++)
    {
      Item *item = self->items->pdata[i];

      if (channel == NULL || g_strcmp0 (item->channel, channel) == 0)
        throw_away (item, why);
    }
}

void
sbx_prepared_drop (SbxPrepared *self, const char *channel)
{
  sbx_prepared_pool_forget (self->pool, channel);
  throw_all (self, channel, "not-in-use");
}

static void
set_bounds (SbxPrepared *self)
{
  const SbxConfig *config = self->context->settings->config;

  sbx_prepared_pool_set_bounds (self->pool, (guint) config->prepared_turns,
                                (guint) config->prepared_per_channel, (gint64) config->prepared_idle_usec);
}

void
sbx_prepared_reconfigure (SbxPrepared *self)
{
  set_bounds (self);
  throw_all (self, NULL, "configuration");
  pump_soon (self);
}

void
sbx_prepared_containerd_changed (SbxPrepared *self)
{
  throw_all (self, NULL, "containerd");
  pump_soon (self);
}

/* --- its life --- */

SbxPrepared *
sbx_prepared_new (SbxTurnContext *context, void (*changed) (gpointer user_data), gpointer user_data)
{
  SbxPrepared *self = g_new0 (SbxPrepared, 1);

  self->context = context;
  self->changed = changed;
  self->user_data = user_data;
  self->items = g_ptr_array_new_with_free_func (item_free);
  self->cancellable = g_cancellable_new ();
  self->pool = sbx_prepared_pool_new (0, 0, 0);
  set_bounds (self);
  return self;
}

void
sbx_prepared_free (SbxPrepared *self)
{
  if (self == NULL)
    return;
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  sbx_source_clear (&self->pump_source);
  sbx_prepared_pool_free (self->pool);
  g_ptr_array_unref (self->items);
  g_free (self);
}

void
sbx_prepared_stop (SbxPrepared *self, void (*stopped) (gpointer user_data), gpointer user_data)
{
  self->stopping = TRUE;
  self->stopped = stopped;
  self->stopped_data = user_data;
  sbx_prepared_pool_set_bounds (self->pool, 0, 0, 0);
  throw_all (self, NULL, "stopping");
  pump_soon (self);
}
