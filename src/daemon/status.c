/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/manager-private.h"

#include "bus/bus-auto.h"
#include "daemon/guard.h"
#include "sbx-config.h"
#include "turn/prepared.h"

/* A person waits for it, and a hung Docker is an answer too. */
#define ASK_MSEC 3000u

/* One GetStatus under way: Docker is asked, then for the image, then the egress. */
typedef struct {
  SbxManagerCall *call;
  GCancellable *cancellable;
  char *docker;
  char *docker_version;
  char *image_state;
  char *egress;
} Status;

static void
status_free (Status *self)
{
  sbx_manager_call_free (self->call);
  g_object_unref (self->cancellable);
  g_free (self->docker);
  g_free (self->docker_version);
  g_free (self->image_state);
  g_free (self->egress);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Status, status_free)

static int
append_text (sd_bus_message *reply, const char *name, const char *value)
{
  return sd_bus_message_append (reply, "{sv}", name, "s", value);
}

static int
append_number (sd_bus_message *reply, const char *name, guint value)
{
  return sd_bus_message_append (reply, "{sv}", name, "u", value);
}

static int
append_big (sd_bus_message *reply, const char *name, guint64 value)
{
  return sd_bus_message_append (reply, "{sv}", name, "t", value);
}

static int
append_texts (sd_bus_message *reply, const char *name, const char *const *values)
{
  int r = sd_bus_message_open_container (reply, 'e', "sv");

  if (r >= 0)
    r = sd_bus_message_append (reply, "s", name);
  if (r >= 0)
    r = sd_bus_message_open_container (reply, 'v', "as");
  if (r >= 0)
    r = sd_bus_message_append_strv (reply, (char **) values);
  if (r >= 0)
    r = sd_bus_message_close_container (reply);
  return r < 0 ? r : sd_bus_message_close_container (reply);
}

static int
append_status (sd_bus_message *reply, const Status *self)
{
  SbxDaemon *daemon = self->call->manager->daemon;
  SbxTurns *turns = sbx_daemon_turns (daemon);
  const SbxTurnContext *context = sbx_daemon_context (daemon);
  int r = sd_bus_message_open_container (reply, 'a', "{sv}");

  /* The first error sticks: every later append on a broken message fails too. */
  if (r < 0 || (r = append_text (reply, "version", SBX_VERSION)) < 0
      || (r = append_text (reply, "docker", self->docker)) < 0
      || (r = append_text (reply, "docker-version", self->docker_version)) < 0
      || (r = append_text (reply, "image", context->settings->config->image)) < 0
      || (r = append_text (reply, "image-state", self->image_state)) < 0
      || (r = append_text (reply, "egress", self->egress)) < 0
      || (r = append_number (reply, "channels", sbx_channel_store_count (sbx_daemon_channels (daemon)))) < 0
      || (r = append_number (reply, "turns-running", sbx_turns_n_running (turns))) < 0
      || (r = append_number (reply, "turns-queued", sbx_turns_n_queued (turns))) < 0
      || (r = append_number (reply, "turns-prepared", sbx_prepared_n_waiting (context->prepared))) < 0
      || (r = append_number (reply, "changes-queued", sbx_turns_n_changes (turns))) < 0
      || (r = append_big (reply, "turns-finished", sbx_turns_n_finished (turns))) < 0
      || (r = append_big (reply, "turns-failed", sbx_turns_n_failed (turns))) < 0
      || (r = append_number (reply, "cleanups-pending", sbx_reaper_n_left (context->reaper))) < 0
      || (r = append_texts (reply, "warnings", sbx_daemon_warnings (daemon))) < 0)
    return r;
  return sd_bus_message_close_container (reply);
}

static void
egress_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (Status) self = user_data;
  SbxFailure failure = sbx_egress_client_probe_finish (result);
  g_autoptr (sd_bus_message) reply = NULL;
  int r;

  if (g_cancellable_is_cancelled (self->cancellable))
    return;
  self->egress = g_strdup (failure == SBX_FAILURE_NONE ? "ok" : sbx_failure_text (failure));
  r = sd_bus_message_new_method_return (self->call->message, &reply);
  if (r >= 0)
    r = append_status (reply, self);
  sbx_manager_send_reply (self->call->message, reply, r);
}

static void
image_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (Status) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxImage) image = sbx_engine_image_inspect_finish (result, &error);
  SbxEgressClient *egress;

  if (g_cancellable_is_cancelled (self->cancellable))
    return;
  if (image != NULL)
    self->image_state = g_strdup ("ok");
  else if (g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IMAGE_MISSING))
    self->image_state = g_strdup (sbx_failure_text (SBX_FAILURE_IMAGE_MISSING));
  else
    self->image_state = g_strdup (error->message);
  egress = sbx_daemon_context (self->call->manager->daemon)->egress;
  sbx_egress_client_probe_async (egress, self->cancellable, egress_done, self);
  (void) g_steal_pointer (&self);
}

static void
info_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (Status) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxEngineInfo) info = sbx_engine_info_finish (result, &error);
  const SbxTurnContext *context;

  if (g_cancellable_is_cancelled (self->cancellable))
    return;
  self->docker_version = g_strdup (info != NULL ? info->server_version : "");
  if (info == NULL)
    self->docker = g_strdup (error->message);
  else if (g_strcmp0 (info->cgroup_driver, "systemd") != 0)
    self->docker =
      g_strdup ("Docker does not use systemd's cgroup driver; set native.cgroupdriver=systemd in "
                "/etc/docker/daemon.json");
  else
    self->docker = g_strdup ("ok");
  context = sbx_daemon_context (self->call->manager->daemon);
  sbx_engine_image_inspect_async (context->engine, context->settings->config->image, ASK_MSEC,
                                  self->cancellable, image_done, self);
  (void) g_steal_pointer (&self);
}

static void
status_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  Status *self;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  self = g_new0 (Status, 1);
  self->cancellable = g_object_ref (call->manager->cancellable);
  self->call = g_steal_pointer (&call);
  sbx_engine_info_async (sbx_daemon_context (self->call->manager->daemon)->engine, ASK_MSEC,
                         self->cancellable, info_done, self);
}

int
sbx_method_get_status (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sbx_manager_ask (user_data, message, SBX_ACTION ("list-turns"), NULL, status_allowed);
}
