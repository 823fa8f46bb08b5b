/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/rest.h"

#include "base/deadline.h"

struct _SbxRestWork {
  SbxRest *rest;
  gint64 until_usec; /* at the latest */
  void (*go) (gpointer user_data);
  gpointer user_data;
};

struct _SbxRest {
  gint64 quiet_usec;
  gint64 max_usec;
  gboolean wanted;
  gint64 last_usec;        /* when a turn began or ended, */
  gconstpointer last_turn; /* which one it was, */
  gint64 other_usec;       /* and when another did; 0: never */
  GQueue works;            /* of SbxRestWork, the oldest first */
  SbxDeadline *deadline;   /* of the oldest: no other is due before */
};

SbxRest *
sbx_rest_new (gint64 quiet_usec, gint64 max_usec)
{
  SbxRest *self = g_new0 (SbxRest, 1);

  self->quiet_usec = quiet_usec;
  self->max_usec = max_usec;
  g_queue_init (&self->works);
  return self;
}

void
sbx_rest_free (SbxRest *self)
{
  if (self == NULL)
    return;
  g_warn_if_fail (g_queue_is_empty (&self->works));
  sbx_deadline_free (self->deadline);
  g_free (self);
}

static gint64
due_usec (const SbxRest *self, const SbxRestWork *work)
{
  return self->wanted ? 0 : MIN (work->until_usec, self->last_usec + self->quiet_usec);
}

static void on_time (gpointer user_data);

static void
arm (SbxRest *self)
{
  const SbxRestWork *first = g_queue_peek_head (&self->works);
  gint64 left_usec;

  g_clear_pointer (&self->deadline, sbx_deadline_free);
  if (first == NULL)
    return;
  left_usec = MAX (due_usec (self, first) - g_get_monotonic_time (), 0);
  self->deadline = sbx_deadline_new ((guint) ((left_usec + 999) / 1000), on_time, self);
}

static void
on_time (gpointer user_data)
{
  SbxRest *self = user_data;
  SbxRestWork *work;

  while ((work = g_queue_peek_head (&self->works)) != NULL
         && due_usec (self, work) <= g_get_monotonic_time ())
    {
      (void) g_queue_pop_head (&self->works);
      work->go (work->user_data);
      g_free (work);
    }
  arm (self);
}

void
sbx_rest_turn (SbxRest *self, gconstpointer turn)
{
  if (self->last_turn != turn)
    self->other_usec = self->last_usec;
  self->last_turn = turn;
  self->last_usec = g_get_monotonic_time ();
  arm (self);
}

void
sbx_rest_set_wanted (SbxRest *self, gboolean wanted)
{
  self->wanted = wanted;
  arm (self);
}

SbxRestWork *
sbx_rest_put_off (SbxRest *self, gconstpointer turn, void (*go) (gpointer user_data), gpointer user_data)
{
  gint64 other_usec = self->last_turn == turn ? self->other_usec : self->last_usec;
  gint64 now_usec = g_get_monotonic_time ();
  SbxRestWork *work;

  if (self->wanted || other_usec == 0 || now_usec - other_usec >= self->quiet_usec)
    return NULL;
  work = g_new0 (SbxRestWork, 1);
  work->rest = self;
  work->until_usec = now_usec + self->max_usec;
  work->go = go;
  work->user_data = user_data;
  g_queue_push_tail (&self->works, work);
  arm (self);
  return work;
}

void
sbx_rest_work_cancel (SbxRestWork *work)
{
  SbxRest *self = work->rest;

  (void) g_queue_remove (&self->works, work);
  g_free (work);
  arm (self);
}
