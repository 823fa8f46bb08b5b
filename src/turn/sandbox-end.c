/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/sandbox-private.h"

#include "base/source.h"
#include "container/attach-stream.h"
#include "container/removal.h"
#include "turn/run-dir.h"

/* SIGKILL is a matter of milliseconds; a process that hangs in the kernel is left to its scope. */
#define KILL_MSEC 2000u
/* So is the exit of a worker whose input has ended; Docker would run the runtime once more to kill it. One
 * that takes longer does not mean to go. */
#define EXIT_MSEC 500u

/* Beside Docker, which may hang: systemd kills what is in the container's scope. PID 1 of the container is
 * not asked. */
static void
kill_scope (SbxSandbox *self)
{
  const SbxTurnContext *context = self->context;
  g_autofree char *unit = NULL;

  if (self->container_id == NULL || context->scopes->kill == NULL)
    return;
  unit = g_strdup_printf ("docker-%s.scope", self->container_id);
  context->scopes->kill (context->scopes_self, unit);
}

static void
remove_run_dir (SbxSandbox *self)
{
  g_autoptr (GError) error = NULL;

  if (self->run_dir != NULL && !sbx_run_dir_remove (self->run_dir, &error))
    sbx_reaper_add (self->context->reaper, self->id, NULL, self->run_dir, error->message);
  sbx_sandbox_gone (self);
}

static void
removal_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = user_data;
  g_autoptr (GError) error = NULL;

  if (sbx_removal_finish (result, &error))
    {
      if (self->create_unanswered)
        sbx_reaper_suspect (self->context->reaper, self->id, self->container);
      remove_run_dir (self);
      return;
    }
  if (self->state == SANDBOX_GONE)
    return;
  kill_scope (self);
  /* The directory is mounted in a container that is still there. */
  sbx_reaper_add (self->context->reaper, self->id, self->container, self->run_dir, error->message);
  sbx_sandbox_gone (self);
}

static void
remove_container (SbxSandbox *self)
{
  g_cancellable_cancel (self->exit_cancellable);
  if (self->container == NULL)
    remove_run_dir (self);
  else
    sbx_removal_async (self->context->engine, self->container, NULL, removal_done, sbx_sandbox_ref (self));
}

/* It has had its moment. */
static void
on_exit_late (gpointer user_data)
{
  SbxSandbox *self = user_data;

  g_clear_pointer (&self->exit_deadline, sbx_deadline_free);
  kill_scope (self);
  remove_container (self);
}

void
sbx_sandbox_exited_late (SbxSandbox *self)
{
  self->exited = TRUE;
  if (self->exit_deadline == NULL)
    return;
  g_clear_pointer (&self->exit_deadline, sbx_deadline_free);
  remove_container (self);
}

/* A container made behind its removal would stay: a creation under way is waited for. */
static void
broker_gone (SbxSandbox *self)
{
  self->broker_gone = TRUE;
  if (self->input_ended && !self->exited)
    self->exit_deadline = sbx_deadline_new (EXIT_MSEC, on_exit_late, self);
  else if (!self->create_pending)
    remove_container (self);
}

void
sbx_sandbox_creation_over (SbxSandbox *self)
{
  if (self->broker_gone)
    remove_container (self);
}

static void
on_broker_gone (gpointer user_data)
{
  SbxSandbox *self = user_data;

  if (self->broker_gone)
    return;
  sbx_broker_process_watch (self->process, NULL, NULL);
  g_clear_pointer (&self->kill_deadline, sbx_deadline_free);
  broker_gone (self);
}

static gboolean
on_end (gpointer user_data)
{
  g_autoptr (SbxSandbox) self = sbx_sandbox_ref (user_data);

  g_clear_pointer (&self->end_source, g_source_unref);
  g_clear_pointer (&self->session, sbx_broker_session_free);
  sbx_fd_close (g_steal_fd (&self->stream_fd));
  sbx_fd_close (g_steal_fd (&self->listener));
  if (self->process == NULL)
    {
      broker_gone (self);
      return G_SOURCE_REMOVE;
    }
  /* First of all: dockerd blocks on a broker that does not read. */
  sbx_broker_process_kill (self->process);
  self->kill_deadline = sbx_deadline_new (KILL_MSEC, on_broker_gone, self);
  sbx_broker_process_watch (self->process, on_broker_gone, self);
  return G_SOURCE_REMOVE;
}

/* Its worker has been given time to end by itself, and must not have more. */
static void
hurry (SbxSandbox *self)
{
  if (self->state != SANDBOX_ENDING || !self->input_ended || self->exited)
    return;
  self->input_ended = FALSE;
  if (self->exit_deadline != NULL)
    on_exit_late (self);
  else
    kill_scope (self);
}

void
sbx_sandbox_end (SbxSandbox *self, gboolean at_once)
{
  g_return_if_fail (self->state != SANDBOX_NEW);

  if (!sbx_sandbox_is_open (self))
    {
      if (at_once)
        hurry (self);
      return;
    }
  self->state = SANDBOX_ENDING;
  at_once = at_once && !self->exited;
  self->input_ended = self->keeps_input && !at_once && !self->exited && self->stream_fd >= 0;
  if (self->input_ended)
    sbx_attach_end_input (self->stream_fd);
  g_cancellable_cancel (self->cancellable);
  sbx_sandbox_watch_end (self);
  if (self->process != NULL)
    sbx_broker_process_kill (self->process);
  if (at_once)
    kill_scope (self);
  /* The session may be telling us this very thing: it is freed from the loop. */
  self->end_source = sbx_source_soon (on_end, self);
}

void
sbx_sandbox_abandon (SbxSandbox *self)
{
  if (self->state != SANDBOX_ENDING || self->end_source != NULL)
    return;
  if (self->process != NULL)
    {
      sbx_broker_process_kill (self->process);
      sbx_broker_process_watch (self->process, NULL, NULL);
    }
  g_clear_pointer (&self->kill_deadline, sbx_deadline_free);
  g_clear_pointer (&self->exit_deadline, sbx_deadline_free);
  g_cancellable_cancel (self->exit_cancellable);
  kill_scope (self);
  if (self->create_pending)
    sbx_reaper_suspect (self->context->reaper, self->id, self->container);
  sbx_reaper_add (self->context->reaper, self->id, self->container, self->run_dir, "its removal hangs");
  sbx_sandbox_gone (self);
}
