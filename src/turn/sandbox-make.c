/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/sandbox-private.h"

#include "base/log.h"
#include "base/names.h"
#include "container/attach-stream.h"
#include "container/spec.h"
#include "sbx-config.h"
#include "turn/run-dir.h"

SbxFailure
sbx_sandbox_engine_failure (const GError *error)
{
  if (error->domain != SBX_ENGINE_ERROR)
    return SBX_FAILURE_INTERNAL;
  switch ((SbxEngineError) error->code)
    {
    case SBX_ENGINE_ERROR_DOWN:
    case SBX_ENGINE_ERROR_ANSWER:
      return SBX_FAILURE_DOCKER_DOWN;
    case SBX_ENGINE_ERROR_IMAGE_MISSING:
      return SBX_FAILURE_IMAGE_MISSING;
    case SBX_ENGINE_ERROR_NAME_TAKEN:
    case SBX_ENGINE_ERROR_NOT_FOUND:
    case SBX_ENGINE_ERROR_IN_PROGRESS:
    case SBX_ENGINE_ERROR_CONFLICT:
    case SBX_ENGINE_ERROR_REFUSED:
    default:
      return SBX_FAILURE_DOCKER_REFUSED;
    }
}

/* --- the broker --- */

static SbxControlConfig *
make_control_config (SbxSandbox *self)
{
  const SbxSettings *settings = self->context->settings;
  SbxControlConfig *config = sbx_control_config_new ();
  g_autoptr (GStrvBuilder) tools = g_strv_builder_new ();

  config->call_budget = (guint32) settings->config->calls;
  config->reply_at_newline = self->own_image;
  for (guint i = 0; i < settings->tools->len; i++)
    {
      const SbxTool *tool = settings->tools->pdata[i];

      if (tool->kind == SBX_TOOL_KIND_TOOL || settings->config->compaction)
        g_strv_builder_add (tools, tool->spec.name);
    }
  g_strfreev (config->tools);
  config->tools = g_strv_builder_end (tools);
  for (guint i = 0; i < settings->servers->len; i++)
    {
      const SbxMcpServer *server = settings->servers->pdata[i];
      g_autoptr (GPtrArray) names = g_ptr_array_new ();

      for (guint j = 0; j < server->tools->len; j++)
        g_ptr_array_add (names, ((SbxToolSpec *) server->tools->pdata[j])->name);
      g_ptr_array_add (names, NULL);
      sbx_control_config_add_server (config, server->name, (const char *const *) names->pdata);
    }
  if (settings->config->kept_members != NULL)
    {
      g_strfreev (config->kept_members);
      config->kept_members = g_strdupv (settings->config->kept_members);
    }
  return config;
}

static void
gate_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = user_data;
  g_autoptr (GError) error = NULL;
  gboolean fine = sbx_broker_process_gate_finish (result, &error);
  g_autoptr (SbxControlConfig) config = NULL;

  if (!sbx_sandbox_is_open (self))
    return;
  if (!fine)
    {
      sbx_sandbox_fail (
        self, error->domain == SBX_UNITS_ERROR ? SBX_FAILURE_SCOPE_REFUSED : SBX_FAILURE_BROKER_FAILED,
        error);
      return;
    }
  config = make_control_config (self);
  if (!sbx_broker_session_configure (self->session, config, &error))
    sbx_sandbox_fail (self, SBX_FAILURE_BROKER_FAILED, error);
}

static void
start_broker (SbxSandbox *self)
{
  SbxTurnContext *context = self->context;
  g_autoptr (GError) error = NULL;
  int control = -1;

  self->process = sbx_broker_process_spawn (context->broker_program, self->listener, &control, &error);
  if (self->process == NULL)
    {
      sbx_sandbox_fail (self, SBX_FAILURE_BROKER_FAILED, error);
      return;
    }
  sbx_fd_close (g_steal_fd (&self->listener));
  self->session =
    sbx_broker_session_new (control, context->tools, context->egress, &sbx_sandbox_session_events, self);
  sbx_broker_process_gate_async (self->process, context->scopes, context->scopes_self, self->id,
                                 self->lifetime_usec, self->cancellable, gate_done, sbx_sandbox_ref (self));
}

/* --- the container --- */

static void
wait_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = user_data;
  g_autoptr (GError) error = NULL;
  gint64 exit_status = -1;
  gboolean fine = sbx_engine_container_wait_finish (result, &exit_status, &error);

  if (!fine && g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN))
    sbx_sandbox_fail (self, SBX_FAILURE_DOCKER_DOWN, error);
  else
    sbx_sandbox_exited (self, fine ? exit_status : -1);
}

static void
start_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = user_data;
  g_autoptr (GError) error = NULL;
  gboolean fine = sbx_engine_container_start_finish (result, &error);

  if (!sbx_sandbox_is_open (self))
    return;
  if (!fine)
    {
      sbx_sandbox_fail (self, sbx_sandbox_engine_failure (error), error);
      return;
    }
  self->container_started = TRUE;
  self->scope_events = sbx_scope_events_new (NULL, self->container_id);
  sbx_engine_container_wait_async (self->context->engine, self->container, 0, self->exit_cancellable,
                                   wait_done, sbx_sandbox_ref (self));
  if (self->watched)
    sbx_sandbox_watch_begin (self);
  sbx_sandbox_try_ready (self);
}

static void
attach_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = user_data;
  g_autoptr (GError) error = NULL;
  g_auto (SbxFd) fd = sbx_attach_open_finish (result, &error);

  if (!sbx_sandbox_is_open (self))
    return;
  if (fd < 0)
    {
      sbx_sandbox_fail (self, sbx_sandbox_engine_failure (error), error);
      return;
    }
  self->stream_fd = g_steal_fd (&fd);
  sbx_engine_container_start_async (self->context->engine, self->container, 0, self->cancellable, start_done,
                                    sbx_sandbox_ref (self));
}

static void
create_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autofree char *id = sbx_engine_container_create_finish (result, &error);

  self->create_pending = FALSE;
  self->container_id = g_strdup (id);
  self->create_unanswered = g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN);
  if (!sbx_sandbox_is_open (self))
    {
      sbx_sandbox_creation_over (self);
      return;
    }
  if (id == NULL)
    {
      sbx_sandbox_fail (self, sbx_sandbox_engine_failure (error), error);
      return;
    }
  sbx_attach_open_async (self->context->engine, self->container, 0, self->cancellable, attach_done,
                         sbx_sandbox_ref (self));
}

static void
create_container (SbxSandbox *self)
{
  const SbxTurnContext *context = self->context;
  const SbxConfig *config = context->settings->config;
  g_autoptr (GError) error = NULL;
  const SbxContainerSpec spec = {
    .image = self->image_id,
    .installation = context->installation,
    .channel = self->channel_hash,
    .turn = self->id,
    .uid = context->worker_uid,
    .gid = context->worker_gid,
    .memory_bytes = config->memory_max_bytes,
    .nano_cpus = (gint64) (config->cpus * 1e9),
    .pids = (gint64) config->pids_max,
    .run_dir = self->run_dir,
    .workspace = self->workspace,
    .runtime = config->runtime != NULL && *config->runtime != '\0' ? config->runtime : NULL,
  };
  g_autofree char *body = sbx_container_spec_to_json (&spec, &error);

  if (body == NULL)
    {
      sbx_sandbox_fail (self, SBX_FAILURE_INTERNAL, error);
      return;
    }
  self->container = sbx_container_name (self->channel_hash, g_random_int ());
  self->create_pending = TRUE;
  /* Not cancellable: see create_done(). */
  sbx_engine_container_create_async (context->engine, self->container, body, 0, NULL, create_done,
                                     sbx_sandbox_ref (self));
}

/* --- first of all --- */

static void
image_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxImage) image = sbx_image_watch_ask_finish (result, &error);

  if (!sbx_sandbox_is_open (self))
    return;
  if (image == NULL)
    {
      sbx_sandbox_fail (self, sbx_sandbox_engine_failure (error), error);
      return;
    }
  self->image_id = g_strdup (image->id);
  self->own_image = image->worker_version != NULL;
  self->keeps_input = image->keeps_input;
  /* Docker takes longest, and works while the broker is started. */
  create_container (self);
  if (sbx_sandbox_is_open (self))
    start_broker (self);
}

static gboolean
make_workspace (SbxSandbox *self)
{
  const SbxTurnContext *context = self->context;
  g_autoptr (GError) error = NULL;
  SbxFailure failure = SBX_FAILURE_INTERNAL;

  self->workspace = sbx_workspace_open (context->workspaces_root, self->channel_hash, context->worker_gid,
                                        &self->workspace_id, &error);
  if (self->workspace != NULL)
    return TRUE;
  if (g_error_matches (error, SBX_WORKSPACE_ERROR, SBX_WORKSPACE_ERROR_FULL))
    failure = SBX_FAILURE_DISK_FULL;
  else if (g_error_matches (error, SBX_WORKSPACE_ERROR, SBX_WORKSPACE_ERROR_UNSAFE))
    {
      failure = SBX_FAILURE_WORKSPACE_UNSAFE;
      sbx_log_event (SBX_LOG_ID_WORKSPACE_UNSAFE, LOG_ERR,
                     &(SbxLogFields){ .turn = self->id, .channel = self->channel }, "%s", error->message);
    }
  sbx_sandbox_fail (self, failure, error);
  return FALSE;
}

static gboolean
make_run_dir (SbxSandbox *self)
{
  const SbxTurnContext *context = self->context;
  g_autoptr (GError) error = NULL;

  self->run_dir =
    sbx_run_dir_make (context->run_root, self->id, context->worker_gid, &self->listener, &error);
  if (self->run_dir != NULL)
    return TRUE;
  sbx_sandbox_fail (self,
                    g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE) ? SBX_FAILURE_DISK_FULL
                                                                             : SBX_FAILURE_INTERNAL,
                    error);
  return FALSE;
}

void
sbx_sandbox_make (SbxSandbox *self, gboolean watched)
{
  g_return_if_fail (self->state == SANDBOX_NEW);

  self->state = SANDBOX_MAKING;
  self->watched = watched;
  /* Its own, until it is gone. */
  (void) sbx_sandbox_ref (self);
  g_hash_table_insert (self->context->sandboxes, self->id, self);
  if (make_workspace (self) && make_run_dir (self))
    sbx_image_watch_ask_async (self->context->images, self->context->settings->config->image,
                               self->cancellable, image_done, sbx_sandbox_ref (self));
}
