/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/state-writer.h"

#include "base/source.h"

typedef struct {
  SbxStateDone done;
  gpointer user_data;
} Waiter;

typedef struct {
  SbxStateDir *directory;
  char *name; /* of a file to write; NULL: only `names` are brought to the disk */
  GString *(*content) (gpointer);
  gpointer content_data;
  GString *text;    /* what content gave */
  GPtrArray *names; /* of files written already */
  GArray *waiters;
  GError *error;
  GSource *ended; /* attached by the thread */
} Job;

struct _SbxStateWriter {
  SbxStateDir *directory;
  GQueue jobs; /* those to come */
  Job *job;    /* the one under way */
  GThread *thread;
  GSource *begin;
  gboolean telling;
};

static void
job_free (gpointer data)
{
  Job *self = data;

  if (self->text != NULL)
    (void) g_string_free (self->text, TRUE);
  sbx_source_clear (&self->ended);
  g_clear_error (&self->error);
  g_ptr_array_unref (self->names);
  g_array_unref (self->waiters);
  g_free (self->name);
  g_free (self);
}

/* --- in the thread --- */

static void
job_do (Job *self)
{
  if (self->name != NULL)
    (void) sbx_state_dir_write (self->directory, self->name, self->text->str, self->text->len,
                                SBX_STATE_ON_DISK, &self->error);
  else
    (void) sbx_state_dir_sync (self->directory, self->names, &self->error);
}

static gpointer
job_thread (gpointer data)
{
  Job *self = data;

  job_do (self);
  (void) g_source_attach (self->ended, NULL);
  return NULL;
}

/* --- in the loop --- */

static void writer_begin (SbxStateWriter *self);

static gboolean
on_ended (gpointer user_data)
{
  SbxStateWriter *self = user_data;
  Job *job = g_steal_pointer (&self->job);

  if (self->thread != NULL)
    (void) g_thread_join (g_steal_pointer (&self->thread));
  /* Whoever is told may take something back, which the next job's content must not have. */
  self->telling = TRUE;
  for (guint i = 0; i < job->waiters->len; i++)
    {
      const Waiter *waiter = &g_array_index (job->waiters, Waiter, i);

      waiter->done (job->error, waiter->user_data);
    }
  self->telling = FALSE;
  job_free (job);
  writer_begin (self);
  return G_SOURCE_REMOVE;
}

static void
writer_take (SbxStateWriter *self)
{
  self->job = g_queue_pop_head (&self->jobs);
  if (self->job != NULL && self->job->content != NULL)
    self->job->text = self->job->content (self->job->content_data);
}

static void
writer_begin (SbxStateWriter *self)
{
  if (self->job != NULL || self->telling)
    return;
  writer_take (self);
  if (self->job == NULL)
    return;
  self->job->ended = g_idle_source_new ();
  g_source_set_priority (self->job->ended, G_PRIORITY_DEFAULT);
  g_source_set_callback (self->job->ended, on_ended, self, NULL);
  self->thread = g_thread_try_new ("state-writer", job_thread, self->job, NULL);
  /* Without a thread it takes as long as the disk does. */
  if (self->thread == NULL)
    (void) job_thread (self->job);
}

static gboolean
on_begin (gpointer user_data)
{
  SbxStateWriter *self = user_data;

  g_clear_pointer (&self->begin, g_source_unref);
  writer_begin (self);
  return G_SOURCE_REMOVE;
}

/* From the loop, so that what one event asks for is one job. */
static void
writer_begin_soon (SbxStateWriter *self)
{
  if (self->begin != NULL || self->job != NULL)
    return;
  self->begin = sbx_source_soon (on_begin, self);
}

SbxStateWriter *
sbx_state_writer_new (SbxStateDir *directory)
{
  SbxStateWriter *self = g_new0 (SbxStateWriter, 1);

  self->directory = directory;
  g_queue_init (&self->jobs);
  return self;
}

void
sbx_state_writer_free (SbxStateWriter *self)
{
  if (self == NULL)
    return;
  sbx_source_clear (&self->begin);
  if (self->thread != NULL)
    (void) g_thread_join (self->thread);
  g_clear_pointer (&self->job, job_free);
  for (writer_take (self); self->job != NULL; writer_take (self))
    {
      job_do (self->job);
      job_free (self->job);
    }
  g_free (self);
}

/* The last job that has not begun, where that is of this file, else a new one. */
static Job *
writer_job (SbxStateWriter *self, const char *name)
{
  Job *job = g_queue_peek_tail (&self->jobs);

  if (job != NULL && g_strcmp0 (job->name, name) == 0)
    return job;
  job = g_new0 (Job, 1);
  job->directory = self->directory;
  job->name = g_strdup (name);
  job->names = g_ptr_array_new_with_free_func (g_free);
  job->waiters = g_array_new (FALSE, FALSE, sizeof (Waiter));
  g_queue_push_tail (&self->jobs, job);
  return job;
}

static void
job_ask (Job *self, SbxStateDone done, gpointer user_data)
{
  const Waiter waiter = { done, user_data };

  if (done != NULL)
    g_array_append_val (self->waiters, waiter);
}

void
sbx_state_writer_write (SbxStateWriter *self, const char *name, GString *(*content) (gpointer),
                        gpointer content_data, SbxStateDone done, gpointer user_data)
{
  Job *job = writer_job (self, name);

  job->content = content;
  job->content_data = content_data;
  job_ask (job, done, user_data);
  writer_begin_soon (self);
}

void
sbx_state_writer_sync (SbxStateWriter *self, const char *name, SbxStateDone done, gpointer user_data)
{
  Job *job = writer_job (self, NULL);

  if (name != NULL)
    g_ptr_array_add (job->names, g_strdup (name));
  job_ask (job, done, user_data);
  writer_begin_soon (self);
}
