/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/reaper.h"

#include "base/log.h"
#include "base/source.h"
#include "container/removal.h"
#include "turn/run-dir.h"

#define FIRST_PAUSE_MSEC   1000u
#define LONGEST_PAUSE_MSEC 60000u
/* After so many tries dockerd is called stuck, once. */
#define STUCK_TRIES 5u
/* With the pauses above: after 1, 3, 7, 15 and 31 seconds. */
#define SUSPECT_ROUNDS 5u

struct _SbxReaper {
  SbxEngine *engine;
  GPtrArray *leftovers; /* of Leftover */
  GCancellable *cancellable;
  void (*changed) (gpointer user_data);
  gpointer user_data;
};

typedef struct {
  SbxReaper *reaper;
  char *turn;
  char *container;
  char *run_dir;
  guint pause_msec;
  guint tries;
  guint rounds; /* of a suspect, still to go */
  GSource *timer;
} Leftover;

static void
leftover_free (gpointer data)
{
  Leftover *self = data;

  sbx_source_clear (&self->timer);
  g_free (self->turn);
  g_free (self->container);
  g_free (self->run_dir);
  g_free (self);
}

SbxReaper *
sbx_reaper_new (SbxEngine *engine, void (*changed) (gpointer user_data), gpointer user_data)
{
  SbxReaper *self = g_new0 (SbxReaper, 1);

  /* Many are tried at one moment, and again seconds later: in the pool each would keep its connection. */
  self->engine = sbx_engine_new_without_pool (engine);
  self->leftovers = g_ptr_array_new_with_free_func (leftover_free);
  self->cancellable = g_cancellable_new ();
  self->changed = changed;
  self->user_data = user_data;
  return self;
}

void
sbx_reaper_free (SbxReaper *self)
{
  if (self == NULL)
    return;
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  g_ptr_array_unref (self->leftovers);
  sbx_engine_unref (self->engine);
  g_free (self);
}

guint
sbx_reaper_n_left (SbxReaper *self)
{
  guint n_left = 0;

  for (guint i = 0; i < self->leftovers->len; i++)
    n_left += ((Leftover *) self->leftovers->pdata[i])->rounds == 0;
  return n_left;
}

static void
reaper_tell (SbxReaper *self)
{
  if (self->changed != NULL)
    self->changed (self->user_data);
}

static void leftover_try_later (Leftover *self);

static void
leftover_settle (Leftover *self)
{
  SbxReaper *reaper = self->reaper;
  g_autoptr (GError) error = NULL;
  const SbxLogFields fields = { .turn = self->turn, .container = self->container };

  if (self->container == NULL && self->run_dir != NULL && sbx_run_dir_remove (self->run_dir, &error))
    g_clear_pointer (&self->run_dir, g_free);
  if (self->container != NULL || self->run_dir != NULL)
    {
      leftover_try_later (self);
      return;
    }
  sbx_log_event (SBX_LOG_ID_CLEANUP_DONE, LOG_NOTICE, &fields, "All of turn %s is removed now", self->turn);
  g_ptr_array_remove (reaper->leftovers, self);
  reaper_tell (reaper);
}

static void
removal_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Leftover *self = user_data;
  g_autoptr (GError) error = NULL;
  gboolean fine = sbx_removal_finish (result, &error);

  if (fine && self->rounds > 1)
    self->rounds--;
  else if (fine && self->rounds == 1)
    {
      g_ptr_array_remove (self->reaper->leftovers, self);
      return;
    }
  else if (fine)
    g_clear_pointer (&self->container, g_free);
  /* The reaper, and this leftover with it, are gone. */
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  else if (++self->tries == STUCK_TRIES && self->rounds == 0)
    sbx_log_event (SBX_LOG_ID_CONTAINER_STUCK, LOG_ERR,
                   &(SbxLogFields){ .turn = self->turn, .container = self->container },
                   "Docker does not remove the container %s of turn %s: %s", self->container, self->turn,
                   error->message);
  leftover_settle (self);
}

static gboolean
on_leftover_due (gpointer user_data)
{
  Leftover *self = user_data;

  g_clear_pointer (&self->timer, g_source_unref);
  if (self->container != NULL)
    sbx_removal_async (self->reaper->engine, self->container, self->reaper->cancellable, removal_done, self);
  else
    leftover_settle (self);
  return G_SOURCE_REMOVE;
}

static void
leftover_try_later (Leftover *self)
{
  self->pause_msec = CLAMP (self->pause_msec * 2, FIRST_PAUSE_MSEC, LONGEST_PAUSE_MSEC);
  self->timer = g_timeout_source_new (self->pause_msec);
  g_source_set_callback (self->timer, on_leftover_due, self, NULL);
  g_source_attach (self->timer, NULL);
}

/* FALSE: there is no room. */
static gboolean
reaper_take (SbxReaper *self, const char *turn, const char *container, const char *run_dir, guint rounds)
{
  Leftover *leftover;

  if (self->leftovers->len >= SBX_REAPER_MAX)
    return FALSE;
  leftover = g_new0 (Leftover, 1);
  leftover->reaper = self;
  leftover->turn = g_strdup (turn);
  leftover->container = g_strdup (container);
  leftover->run_dir = g_strdup (run_dir);
  leftover->rounds = rounds;
  g_ptr_array_add (self->leftovers, leftover);
  leftover_try_later (leftover);
  return TRUE;
}

void
sbx_reaper_suspect (SbxReaper *self, const char *turn, const char *container)
{
  (void) reaper_take (self, turn, container, NULL, SUSPECT_ROUNDS);
}

void
sbx_reaper_add (SbxReaper *self, const char *turn, const char *container, const char *run_dir,
                const char *why)
{
  const SbxLogFields fields = { .turn = turn, .container = container, .reason = "cleanup-failed" };
  gboolean taken = reaper_take (self, turn, container, run_dir, 0);

  sbx_log_event (
    SBX_LOG_ID_CLEANUP_FAILED, LOG_ERR, &fields, "Something of turn %s could not be removed, and is %s: %s",
    turn, taken ? "tried again" : "left to the next sweep, since too much is tried again already", why);
  if (taken)
    reaper_tell (self);
}
