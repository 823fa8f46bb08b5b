/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/task-guard.h"

#include "base/source.h"

void
sbx_task_guard_disarm (SbxTaskGuard *self)
{
  sbx_source_clear (&self->timer);
  sbx_source_clear (&self->cancelled);
}

static gboolean
on_guard_due (gpointer user_data)
{
  SbxTaskGuard *self = user_data;

  sbx_task_guard_disarm (self);
  self->func (self->user_data, FALSE);
  return G_SOURCE_REMOVE;
}

static gboolean
on_guard_cancelled (GCancellable *cancellable, gpointer user_data)
{
  SbxTaskGuard *self = user_data;

  sbx_task_guard_disarm (self);
  self->func (self->user_data, TRUE);
  return G_SOURCE_REMOVE;
}

void
sbx_task_guard_arm (SbxTaskGuard *self, guint deadline_msec, GCancellable *cancellable, SbxTaskGuardFunc func,
                    gpointer user_data)
{
  self->func = func;
  self->user_data = user_data;
  self->timer = g_timeout_source_new (deadline_msec);
  g_source_set_callback (self->timer, on_guard_due, self, NULL);
  g_source_attach (self->timer, g_main_context_get_thread_default ());
  if (cancellable == NULL)
    return;
  self->cancelled = g_cancellable_source_new (cancellable);
  g_source_set_callback (self->cancelled, G_SOURCE_FUNC (on_guard_cancelled), self, NULL);
  g_source_attach (self->cancelled, g_main_context_get_thread_default ());
}
