/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/bus-call.h"

#include "base/source.h"
#include "base/task-guard.h"
#include "bus/bus-auto.h"

typedef struct {
  sd_bus_slot *slot;
  sd_bus_message *answer;
  GError *error;
  SbxTaskGuard guard;
  GSource *idle;
  guint timeout_ms;
} Call;

static void
call_free (Call *self)
{
  sbx_task_guard_disarm (&self->guard);
  sbx_source_clear (&self->idle);
  g_clear_pointer (&self->slot, sd_bus_slot_unref);
  g_clear_pointer (&self->answer, sd_bus_message_unref);
  g_clear_error (&self->error);
  g_free (self);
}

static void
answer_free (gpointer message)
{
  (void) sd_bus_message_unref (message);
}

static gboolean
on_idle (gpointer user_data)
{
  GTask *task = user_data;
  Call *self = g_task_get_task_data (task);

  if (self->error != NULL)
    g_task_return_error (task, g_steal_pointer (&self->error));
  else
    g_task_return_pointer (task, g_steal_pointer (&self->answer), answer_free);
  g_object_unref (task);
  return G_SOURCE_REMOVE;
}

/* The answer or the error is known: nothing else may come any more. */
static void
settle (GTask *task)
{
  Call *self = g_task_get_task_data (task);

  sbx_task_guard_disarm (&self->guard);
  g_clear_pointer (&self->slot, sd_bus_slot_unref);
  self->idle = sbx_source_soon (on_idle, task);
}

static int
on_answer (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Call *self = g_task_get_task_data (user_data);

  self->answer = sd_bus_message_ref (message);
  settle (user_data);
  return 0;
}

static void
on_over (gpointer user_data, gboolean cancelled)
{
  Call *self = g_task_get_task_data (user_data);

  self->error =
    cancelled ? g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, "The call on the bus was cancelled.")
              : g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "No answer on the bus within %u ms.",
                             self->timeout_ms);
  settle (user_data);
}

void
sbx_bus_call_async (sd_bus *bus, sd_bus_message *message, guint timeout_ms, GCancellable *cancellable,
                    GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  Call *self = g_new0 (Call, 1);
  int r = 0;

  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, self, (GDestroyNotify) call_free);
  self->timeout_ms = timeout_ms;
  /* The limit is our own timer's: sd-bus reports a timeout and a broken bus by the same error. */
  r = sd_bus_call_async (bus, &self->slot, message, on_answer, task, G_MAXUINT64);
  if (r < 0)
    {
      self->error =
        g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "The call cannot be sent: %s.", g_strerror (-r));
      settle (task);
      return;
    }
  sbx_task_guard_arm (&self->guard, timeout_ms, cancellable, on_over, task);
}

sd_bus_message *
sbx_bus_call_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
