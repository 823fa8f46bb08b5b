/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/sandbox-private.h"

#include "container/attach-stream.h"
#include "turn/channel-store.h"

/* A worker reads its turn at once; one that does not never will. */
#define WRITE_MSEC 10000u

SbxSandbox *
sbx_sandbox_new (SbxTurnContext *context, const char *id, const char *channel, guint64 lifetime_usec,
                 const SbxSandboxEvents *events, gpointer user_data)
{
  SbxSandbox *self = g_new0 (SbxSandbox, 1);

  g_ref_count_init (&self->refs);
  self->context = context;
  self->events = events;
  self->user_data = user_data;
  self->id = g_strdup (id);
  self->channel = g_strdup (channel);
  self->channel_hash = sbx_channel_hash (channel);
  self->lifetime_usec = lifetime_usec;
  self->cancellable = g_cancellable_new ();
  self->exit_cancellable = g_cancellable_new ();
  self->listener = self->stream_fd = self->worker_fd = -1;
  return self;
}

SbxSandbox *
sbx_sandbox_ref (SbxSandbox *self)
{
  g_ref_count_inc (&self->refs);
  return self;
}

void
sbx_sandbox_unref (SbxSandbox *self)
{
  if (self == NULL || !g_ref_count_dec (&self->refs))
    return;
  g_warn_if_fail (self->state == SANDBOX_NEW || self->state == SANDBOX_GONE);
  sbx_scope_events_free (self->scope_events);
  sbx_broker_process_free (self->process);
  g_object_unref (self->cancellable);
  g_object_unref (self->exit_cancellable);
  g_free (self->id);
  g_free (self->channel);
  g_free (self->channel_hash);
  g_free (self->workspace);
  g_free (self->run_dir);
  g_free (self->container);
  g_free (self->container_id);
  g_free (self->image_id);
  g_free (self);
}

void
sbx_sandbox_set_owner (SbxSandbox *self, const SbxSandboxEvents *events, gpointer user_data)
{
  self->events = events;
  self->user_data = user_data;
}

gboolean
sbx_sandbox_is_open (const SbxSandbox *self)
{
  return self->state < SANDBOX_ENDING;
}

void
sbx_sandbox_fail (SbxSandbox *self, SbxFailure failure, const GError *error)
{
  if (sbx_sandbox_is_open (self))
    self->events->failed (failure, error, self->user_data);
}

void
sbx_sandbox_exited (SbxSandbox *self, gint64 exit_status)
{
  if (self->state == SANDBOX_ENDING)
    sbx_sandbox_exited_late (self);
  if (!sbx_sandbox_is_open (self) || self->exited)
    return;
  self->exited = TRUE;
  self->events->exited (exit_status, self->user_data);
}

void
sbx_sandbox_try_ready (SbxSandbox *self)
{
  if (self->state != SANDBOX_MAKING || !self->container_started || !self->broker_ready)
    return;
  self->state = SANDBOX_READY;
  self->events->ready (self->user_data);
}

void
sbx_sandbox_gone (SbxSandbox *self)
{
  /* Abandoned, and removed after all. */
  if (self->state == SANDBOX_GONE)
    return;
  self->state = SANDBOX_GONE;
  (void) g_hash_table_remove (self->context->sandboxes, self->id);
  self->events->gone (self->user_data);
  sbx_sandbox_unref (self);
}

/* --- the broker's words --- */

static void
on_session_ready (SbxBrokerSession *session, gpointer user_data)
{
  SbxSandbox *self = user_data;

  self->broker_ready = TRUE;
  sbx_sandbox_try_ready (self);
}

static void
on_session_replied (SbxBrokerSession *session, SbxControlReply *reply, gpointer user_data)
{
  SbxSandbox *self = user_data;

  if (sbx_sandbox_is_open (self))
    self->events->replied (reply, self->user_data);
}

static void
on_session_no_reply (SbxBrokerSession *session, SbxFailure failure, gpointer user_data)
{
  SbxSandbox *self = user_data;

  if (sbx_sandbox_is_open (self))
    self->events->no_reply (failure, self->user_data);
}

/* Also behind the outcome: what was called is told in any case. */
static void
on_session_audit (SbxBrokerSession *session, const SbxControlAudit *entry, gpointer user_data)
{
  SbxSandbox *self = user_data;

  if (self->events->audit != NULL)
    self->events->audit (entry, self->user_data);
}

static void
on_session_closed (SbxBrokerSession *session, const GError *error, gpointer user_data)
{
  SbxSandbox *self = user_data;

  self->broker_ready = FALSE;
  if (sbx_sandbox_is_open (self))
    self->events->closed (error, self->user_data);
}

const SbxBrokerSessionEvents sbx_sandbox_session_events = {
  .ready = on_session_ready,
  .replied = on_session_replied,
  .no_reply = on_session_no_reply,
  .audit = on_session_audit,
  .closed = on_session_closed,
};

/* --- its turn --- */

gboolean
sbx_sandbox_is_fit (SbxSandbox *self)
{
  const SbxTurnContext *context = self->context;

  return self->state == SANDBOX_READY && self->broker_ready && !self->exited
         && sbx_broker_process_is_alive (self->process) && !sbx_sandbox_watch_sees_end (self)
         && sbx_workspace_is (context->workspaces_root, self->channel_hash, context->worker_gid,
                              &self->workspace_id);
}

static void
write_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = user_data;
  g_autoptr (GError) error = NULL;
  gboolean fine = sbx_attach_write_finish (result, &error);

  if (!sbx_sandbox_is_open (self))
    return;
  /* Only the broker reads from here on. */
  if (!self->keeps_input)
    sbx_fd_close (g_steal_fd (&self->stream_fd));
  /* A worker that ended before it read all is known by its exit status and its output. */
  if (!fine && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    sbx_sandbox_fail (self, SBX_FAILURE_WORKER_FAILED, error);
}

gboolean
sbx_sandbox_begin (SbxSandbox *self, const SbxToolIdentity *identity, guint left_msec, int grant_fd,
                   GBytes *turn, GError **error)
{
  g_return_val_if_fail (self->state == SANDBOX_READY, FALSE);

  self->state = SANDBOX_BEGUN;
  sbx_sandbox_watch_end (self);
  sbx_broker_session_set_bus (self->session, self->context->bus);
  /* START goes first: a quick worker must not find a broker that still says 410. Reading and writing do not
   * meet on a socket, so the broker may have the stream while the turn is being written. */
  if (!sbx_broker_session_start (self->session, identity, left_msec, grant_fd, self->stream_fd, error))
    return FALSE;
  sbx_attach_write_async (self->stream_fd, turn, !self->keeps_input, WRITE_MSEC, self->cancellable,
                          write_done, sbx_sandbox_ref (self));
  return TRUE;
}

/* --- looking --- */

const char *
sbx_sandbox_id (const SbxSandbox *self)
{
  return self->id;
}

const char *
sbx_sandbox_container (const SbxSandbox *self)
{
  return self->container;
}

gboolean
sbx_sandbox_is_own_image (const SbxSandbox *self)
{
  return self->own_image;
}

gboolean
sbx_sandbox_is_created (const SbxSandbox *self)
{
  return self->container_id != NULL;
}

const char *
sbx_sandbox_image_id (const SbxSandbox *self)
{
  return self->image_id;
}

const char *
sbx_sandbox_workspace (const SbxSandbox *self)
{
  return self->workspace;
}

const char *
sbx_sandbox_waits_for (const SbxSandbox *self)
{
  if (self->state == SANDBOX_MAKING)
    return self->container_started ? "broker" : "docker";
  if (self->state == SANDBOX_ENDING)
    return self->exit_deadline != NULL ? "worker" : self->broker_gone ? "docker" : "broker";
  return NULL;
}

gboolean
sbx_sandbox_saw_oom (SbxSandbox *self)
{
  return sbx_scope_events_saw_oom (self->scope_events);
}

gboolean
sbx_sandbox_saw_pids (SbxSandbox *self)
{
  return sbx_scope_events_saw_pids (self->scope_events);
}

gboolean
sbx_sandbox_is_live (const SbxTurnContext *context, const char *id)
{
  return g_hash_table_contains (context->sandboxes, id);
}
