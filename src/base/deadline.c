/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/deadline.h"

struct _SbxDeadline {
  GSource *source;
  gint64 due_usec;
  void (*passed) (gpointer user_data);
  gpointer user_data;
};

static gboolean
on_time_up (gpointer user_data)
{
  SbxDeadline *self = user_data;

  /* First destroyed, then told: the callback may free self. */
  g_source_destroy (self->source);
  g_clear_pointer (&self->source, g_source_unref);
  self->passed (self->user_data);
  return G_SOURCE_REMOVE;
}

SbxDeadline *
sbx_deadline_new (guint msec, void (*passed) (gpointer user_data), gpointer user_data)
{
  SbxDeadline *self = g_new0 (SbxDeadline, 1);

  msec = MIN (msec, SBX_DEADLINE_MAX_MSEC);
  self->passed = passed;
  self->user_data = user_data;
  self->due_usec = g_get_monotonic_time () + (gint64) msec * 1000;
  self->source = g_timeout_source_new (msec);
  g_source_set_callback (self->source, on_time_up, self, NULL);
  g_source_attach (self->source, g_main_context_get_thread_default ());
  return self;
}

void
sbx_deadline_free (SbxDeadline *self)
{
  if (self == NULL)
    return;
  if (self->source != NULL)
    {
      g_source_destroy (self->source);
      g_source_unref (self->source);
    }
  g_free (self);
}

guint
sbx_deadline_left_msec (const SbxDeadline *self)
{
  gint64 left_usec = self->due_usec - g_get_monotonic_time ();

  if (self->source == NULL || left_usec <= 0)
    return 0;
  return (guint) ((left_usec + 999) / 1000);
}
