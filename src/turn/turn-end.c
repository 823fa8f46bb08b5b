/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-private.h"

#include <sys/socket.h>

#include "container/removal.h"
#include "turn/run-dir.h"

/* SIGKILL is a matter of milliseconds; a process that hangs in the kernel is left to its scope. */
#define KILL_MSEC 2000u

/* Beside Docker, which may hang: systemd kills what is in the container's scope. PID 1 of the container is
 * not asked. */
static void
kill_scope (SbxTurn *self)
{
  const SbxTurnContext *context = self->context;
  g_autofree char *unit = NULL;

  if (self->container_id == NULL || context->scopes->kill == NULL)
    return;
  unit = g_strdup_printf ("docker-%s.scope", self->container_id);
  context->scopes->kill (context->scopes_self, unit);
}

static void
leave (SbxTurn *self)
{
  sbx_turn_step (self, SBX_TURN_EVENT_CLEANED);
}

static void
remove_run_dir (SbxTurn *self)
{
  g_autoptr (GError) error = NULL;

  if (self->run_dir != NULL && !sbx_run_dir_remove (self->run_dir, &error))
    sbx_reaper_add (self->context->reaper, self->id, NULL, self->run_dir, error->message);
  leave (self);
}

static void
removal_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxTurn) self = user_data;
  g_autoptr (GError) error = NULL;

  if (sbx_removal_finish (result, &error))
    {
      if (self->create_unanswered)
        sbx_reaper_suspect (self->context->reaper, self->id, self->container);
      remove_run_dir (self);
      return;
    }
  kill_scope (self);
  /* The directory is mounted in a container that is still there. */
  sbx_reaper_add (self->context->reaper, self->id, self->container, self->run_dir, error->message);
  leave (self);
}

static void
remove_container (SbxTurn *self)
{
  if (self->container == NULL)
    remove_run_dir (self);
  else
    sbx_removal_async (self->context->engine, self->container, NULL, removal_done, sbx_turn_ref (self));
}

static void
on_broker_gone (gpointer user_data)
{
  SbxTurn *self = user_data;

  if (self->broker_gone)
    return;
  self->broker_gone = TRUE;
  sbx_broker_process_watch (self->process, NULL, NULL);
  g_clear_pointer (&self->kill_deadline, sbx_deadline_free);
  if (!self->create_pending)
    remove_container (self);
}

static gboolean
on_clean (gpointer user_data)
{
  g_autoptr (SbxTurn) self = sbx_turn_ref (user_data);

  g_clear_pointer (&self->clean_source, g_source_unref);
  g_clear_pointer (&self->session, sbx_broker_session_free);
  sbx_fd_close (g_steal_fd (&self->stream_fd));
  sbx_fd_close (g_steal_fd (&self->listener));
  if (self->process != NULL)
    {
      /* First of all: dockerd blocks on a broker that does not read. */
      sbx_broker_process_kill (self->process);
      self->kill_deadline = sbx_deadline_new (KILL_MSEC, on_broker_gone, self);
      sbx_broker_process_watch (self->process, on_broker_gone, self);
      return G_SOURCE_REMOVE;
    }
  self->broker_gone = TRUE;
  if (!self->create_pending)
    remove_container (self);
  return G_SOURCE_REMOVE;
}

/* Called when the outcome is known, and again when a creation that was under way then has ended. */
void
sbx_turn_clean (SbxTurn *self)
{
  if (self->broker_gone)
    {
      remove_container (self);
      return;
    }
  if (self->clean_source != NULL || self->kill_deadline != NULL)
    return;
  /* The right to call out ends now, whoever holds a copy. */
  if (self->grant_fd >= 0)
    (void) shutdown (self->grant_fd, SHUT_RDWR);
  sbx_fd_close (g_steal_fd (&self->grant_fd));
  if (self->process != NULL)
    sbx_broker_process_kill (self->process);
  /* A worker that has replied is about to end, and Docker alone does. */
  if (self->outcome.kind != SBX_OUTCOME_REPLIED && !self->exited)
    kill_scope (self);
  /* The session may be telling us this very thing: it is freed from the loop. */
  self->clean_source = g_idle_source_new ();
  g_source_set_priority (self->clean_source, G_PRIORITY_DEFAULT);
  g_source_set_callback (self->clean_source, on_clean, self, NULL);
  g_source_attach (self->clean_source, NULL);
}
