/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/daemon.h"

#include <glib-unix.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "base/deadline.h"
#include "base/installation.h"
#include "base/log.h"
#include "base/names.h"
#include "base/source.h"
#include "daemon/manager.h"
#include "daemon/reload.h"
#include "daemon/state.h"
#include "daemon/watchdog.h"
#include "sbx-config.h"
#include "turn/prepared.h"
#include "turn/sandbox.h"
#include "turn/sweep.h"

/* The unit's TimeoutStopSec= is longer. */
#define STOP_MSEC 8000u
/* The name is not owned before the first sweep, but a hung dockerd must not keep it for long. */
#define FIRST_SWEEP_MSEC 8000u
#define SWEEP_AGAIN_SEC  10u
#define SWEEP_EVERY_SEC  300u

struct _SbxDaemon {
  GMainLoop *loop;
  GError *error; /* why the loop ended, where that is a failure */
  GStrv warnings;
  char *config_root;
  SbxTurnContext context;
  SbxDaemonState state;
  SbxTurns *turns;
  SbxSweep *sweep;
  SbxWiper *wiper;
  char *bus_address;
  SbxBusConnection *connection;
  SbxUnits *units;
  SbxManager *manager;
  SbxDeadline *first_sweep;
  SbxDeadline *stop_deadline;
  GSource *sweep_timer;
  guint signals[3];
  guint watchdog;
  gboolean swept;
  gboolean announced; /* systemd knows that we are ready */
  gboolean bus_lost;
  gboolean stopping;
};

static void
daemon_fail (SbxDaemon *self, GError *error)
{
  if (self->error == NULL)
    self->error = error;
  else
    g_error_free (error);
  g_main_loop_quit (self->loop);
}

/* --- sweeping --- */

static gboolean
on_is_live (const char *turn, gpointer user_data)
{
  SbxDaemon *self = user_data;

  return sbx_sandbox_is_live (&self->context, turn) || sbx_wiper_is_live (self->wiper, turn);
}

static void on_swept (gboolean clean, gpointer user_data);

static gboolean
on_sweep_due (gpointer user_data)
{
  SbxDaemon *self = user_data;

  g_clear_pointer (&self->sweep_timer, g_source_unref);
  sbx_sweep_run (self->sweep, self->units, on_swept, self);
  return G_SOURCE_REMOVE;
}

static void
claim_name (SbxDaemon *self)
{
  sd_bus *bus = sbx_bus_connection_peek (self->connection);

  g_clear_pointer (&self->first_sweep, sbx_deadline_free);
  self->swept = TRUE;
  if (bus != NULL)
    sbx_manager_claim_name (self->manager);
}

static void
on_swept (gboolean clean, gpointer user_data)
{
  SbxDaemon *self = user_data;

  if (self->sweep_timer == NULL)
    {
      self->sweep_timer = g_timeout_source_new_seconds (clean ? SWEEP_EVERY_SEC : SWEEP_AGAIN_SEC);
      g_source_set_callback (self->sweep_timer, on_sweep_due, self, NULL);
      g_source_attach (self->sweep_timer, NULL);
    }
  if (!self->swept)
    claim_name (self);
  sbx_wiper_resume (self->wiper);
}

static void
on_first_sweep_late (gpointer user_data)
{
  SbxDaemon *self = user_data;

  sbx_log (LOG_WARNING, NULL,
           "Looking for what an earlier life left takes long; going on without waiting for it");
  claim_name (self);
}

/* --- the bus --- */

static void
on_name_claimed (gboolean fine, const char *why, gpointer user_data)
{
  SbxDaemon *self = user_data;

  if (!fine)
    {
      daemon_fail (
        self, g_error_new (G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                           "Cannot own the bus name %s (%s): is the policy file "
                           "dbus-1/system.d/org.roundtable.Sandbox1.conf installed, and no other sandboxd "
                           "running?",
                           SBX_BUS_NAME, why));
      return;
    }
  if (self->bus_lost)
    sbx_log_event (SBX_LOG_ID_BUS_BACK, LOG_NOTICE, NULL, "The system bus is back");
  self->bus_lost = FALSE;
  if (self->announced)
    return;
  self->announced = TRUE;
  sbx_image_watch_start (self->context.images, self->context.settings->config->image);
  sbx_turns_go (self->turns);
  (void) sd_notifyf (0, "READY=1\nSTATUS=%u channels sandboxed",
                     sbx_channel_store_count (self->state.channels));
  sbx_log_event (SBX_LOG_ID_SERVICE_READY, LOG_INFO, NULL, "Ready, with %u sandboxed channels",
                 sbx_channel_store_count (self->state.channels));
}

static void
on_containerd_changed (gpointer user_data)
{
  SbxDaemon *self = user_data;

  sbx_prepared_containerd_changed (self->context.prepared);
}

static gboolean
on_bus_ready (SbxBusConnection *connection, sd_bus *bus, gpointer user_data)
{
  SbxDaemon *self = user_data;
  g_autoptr (GError) error = NULL;

  self->units = sbx_units_new (bus, &error);
  if (self->units == NULL)
    {
      sbx_log (LOG_ERR, NULL, "Cannot talk to systemd over the bus: %s", error->message);
      return FALSE;
    }
  self->context.bus = bus;
  if (!sbx_units_watch (self->units, "containerd.service", on_containerd_changed, self, &error))
    sbx_log (LOG_WARNING, NULL, "%s", error->message);
  g_clear_error (&error);
  if (!sbx_manager_attach (self->manager, bus, &error))
    {
      sbx_log (LOG_ERR, NULL, "%s", error->message);
      g_clear_pointer (&self->units, sbx_units_free);
      self->context.bus = NULL;
      return FALSE;
    }
  if (self->swept)
    {
      sbx_manager_claim_name (self->manager);
      return TRUE;
    }
  if (self->first_sweep == NULL)
    self->first_sweep = sbx_deadline_new (FIRST_SWEEP_MSEC, on_first_sweep_late, self);
  sbx_sweep_run (self->sweep, self->units, on_swept, self);
  return TRUE;
}

static void
on_bus_lost (SbxBusConnection *connection, gpointer user_data)
{
  SbxDaemon *self = user_data;

  sbx_log_event (SBX_LOG_ID_BUS_LOST, LOG_ERR, NULL,
                 "The system bus is lost; turns whose callers were on it are cancelled");
  self->bus_lost = TRUE;
  self->context.bus = NULL;
  sbx_manager_detach (self->manager);
  g_clear_pointer (&self->units, sbx_units_free);
}

static const SbxBusConnectionEvents bus_events = { on_bus_ready, on_bus_lost };

/* --- what changes --- */

static void
on_counts_changed (gpointer user_data)
{
  SbxDaemon *self = user_data;

  if (self->manager != NULL)
    sbx_manager_counts_changed (self->manager);
}

static void
on_images_changed (gpointer user_data)
{
  SbxDaemon *self = user_data;

  sbx_prepared_images_changed (self->context.prepared);
}

static void
on_mode_changed (const char *channel, gboolean on, gpointer user_data)
{
  SbxDaemon *self = user_data;

  if (!on)
    sbx_prepared_drop (self->context.prepared, channel);
  if (self->manager != NULL)
    sbx_manager_mode_changed (self->manager, channel, on);
}

static void
on_turn_added (SbxTurn *turn, gpointer user_data)
{
  SbxDaemon *self = user_data;

  if (self->manager != NULL)
    sbx_manager_turn_added (self->manager, turn);
}

static void
on_turn_changed (SbxTurn *turn, gpointer user_data)
{
  SbxDaemon *self = user_data;

  if (self->manager != NULL)
    sbx_manager_turn_changed (self->manager, turn);
}

static void
on_turn_gone (const char *id, gpointer user_data)
{
  SbxDaemon *self = user_data;

  if (self->manager != NULL)
    sbx_manager_turn_gone (self->manager, id);
}

static const SbxTurnsEvents turns_events = { on_counts_changed, on_turn_added, on_turn_changed, on_turn_gone,
                                             on_mode_changed };

/* --- the end --- */

static void
on_all_stopped (gpointer user_data)
{
  SbxDaemon *self = user_data;

  g_main_loop_quit (self->loop);
}

/* Those that wait are ended with the turns; this waits for the last of them. */
static void
on_turns_stopped (gpointer user_data)
{
  SbxDaemon *self = user_data;

  sbx_prepared_stop (self->context.prepared, on_all_stopped, self);
}

static void
on_stop_late (gpointer user_data)
{
  SbxDaemon *self = user_data;

  sbx_log (LOG_WARNING, NULL, "Not all turns could be removed in time; sandbox-cleanup does the rest");
  g_main_loop_quit (self->loop);
}

static gboolean
on_end_signal (gpointer user_data)
{
  SbxDaemon *self = user_data;

  if (self->stopping)
    return G_SOURCE_CONTINUE;
  self->stopping = TRUE;
  (void) sd_notify (0, "STOPPING=1\nSTATUS=Ending turns");
  sbx_log_event (SBX_LOG_ID_SERVICE_STOPPING, LOG_INFO, NULL,
                 "Stopping, with %u turns running and %u waiting", sbx_turns_n_running (self->turns),
                 sbx_turns_n_queued (self->turns));
  self->stop_deadline = sbx_deadline_new (STOP_MSEC, on_stop_late, self);
  sbx_prepared_stop (self->context.prepared, NULL, NULL);
  sbx_turns_stop (self->turns, on_turns_stopped, self);
  return G_SOURCE_CONTINUE;
}

/* --- building --- */

gboolean
sbx_daemon_reload (SbxDaemon *self, GError **error)
{
  g_auto (GStrv) warnings = NULL;

  if (!sbx_reload (&self->context, self->config_root, &warnings, error))
    {
      sbx_log_event (SBX_LOG_ID_CONFIG_REJECTED, LOG_ERR, NULL, "The old configuration is kept: %s",
                     (*error)->message);
      return FALSE;
    }
  g_strfreev (self->warnings);
  self->warnings = g_steal_pointer (&warnings);
  sbx_turns_reconfigure (self->turns);
  sbx_prepared_reconfigure (self->context.prepared);
  sbx_log_event (SBX_LOG_ID_CONFIG_LOADED, LOG_INFO, NULL, "The configuration was read again");
  return TRUE;
}

static void
hangup_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autofree char *complaint = NULL;

  if (sbx_egress_client_reload_finish (result, &complaint) != SBX_FAILURE_NONE)
    sbx_log (LOG_WARNING, NULL, "sandbox-egress keeps its old configuration: %s",
             complaint != NULL ? complaint : "it does not answer");
}

static gboolean
on_hangup (gpointer user_data)
{
  SbxDaemon *self = user_data;
  g_autoptr (GError) error = NULL;

  if (!self->stopping && sbx_daemon_reload (self, &error))
    sbx_egress_client_reload_async (self->context.egress, NULL, hangup_done, NULL);
  return G_SOURCE_CONTINUE;
}

/* Where systemd handed one over (sandboxd.socket). FALSE with error set. */
static gboolean
take_private_socket (SbxDaemon *self, GError **error)
{
  if (sd_listen_fds (1) <= 0)
    return TRUE;
  if (sd_is_socket (SD_LISTEN_FDS_START, AF_UNIX, SOCK_STREAM, 1) <= 0)
    {
      g_set_error_literal (
        error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "What systemd handed over is not a listening Unix stream socket; see sandboxd.socket");
      return FALSE;
    }
  sbx_manager_listen (self->manager, SD_LISTEN_FDS_START);
  return TRUE;
}

SbxDaemon *
sbx_daemon_new (const SbxDaemonPlaces *places, GError **error)
{
  g_autoptr (SbxDaemon) self = g_new0 (SbxDaemon, 1);

  self->state.lock = -1;
  self->loop = g_main_loop_new (NULL, FALSE);
  self->context.installation = sbx_installation_id (error);
  if (self->context.installation == NULL
      || !sbx_reload (&self->context, places->config_root, &self->warnings, error)
      || !sbx_daemon_state_open (&self->state, &self->context, places, error))
    return NULL;
  self->context.broker_program = g_strdup (places->broker_program);
  self->context.engine = sbx_engine_new (places->docker_socket);
  self->context.images = sbx_image_watch_new (self->context.engine, on_images_changed, self);
  self->context.egress = sbx_egress_client_new (places->egress_socket);
  self->context.rest = sbx_rest_new (SBX_REST_QUIET_USEC, SBX_REST_MAX_USEC);
  self->context.reaper = sbx_reaper_new (self->context.engine, on_counts_changed, self);
  self->context.sandboxes = g_hash_table_new (g_str_hash, g_str_equal);
  self->context.scopes = &sbx_scope_maker_systemd;
  self->context.scopes_self = &self->units;
  self->context.prepared = sbx_prepared_new (&self->context, on_counts_changed, self);
  self->turns = sbx_turns_new (&self->context, self->state.channels, &turns_events, self);
  sbx_turns_restore (self->turns);
  self->wiper = sbx_wiper_new (&self->context);
  self->sweep = sbx_sweep_new (self->context.engine, self->context.installation, self->context.run_root,
                               on_is_live, self);
  self->manager = sbx_manager_new (self, on_name_claimed, self);
  self->bus_address = g_strdup (places->bus_address);
  self->config_root = g_strdup (places->config_root);
  if (!take_private_socket (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
sbx_daemon_free (SbxDaemon *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (self->signals); i++)
    if (self->signals[i] != 0)
      g_source_remove (self->signals[i]);
  if (self->watchdog != 0)
    g_source_remove (self->watchdog);
  sbx_source_clear (&self->sweep_timer);
  sbx_deadline_free (self->first_sweep);
  sbx_deadline_free (self->stop_deadline);
  sbx_sweep_free (self->sweep);
  sbx_wiper_free (self->wiper);
  g_clear_pointer (&self->manager, sbx_manager_free);
  sbx_units_free (self->units);
  sbx_bus_connection_free (self->connection);
  sbx_turns_free (self->turns);
  sbx_prepared_free (self->context.prepared);
  sbx_turn_context_clear (&self->context);
  sbx_daemon_state_close (&self->state);
  g_free (self->bus_address);
  g_free (self->config_root);
  g_strfreev (self->warnings);
  g_clear_error (&self->error);
  g_main_loop_unref (self->loop);
  g_free (self);
}

gboolean
sbx_daemon_run (SbxDaemon *self, GError **error)
{
  self->signals[0] = g_unix_signal_add (SIGTERM, on_end_signal, self);
  self->signals[1] = g_unix_signal_add (SIGINT, on_end_signal, self);
  self->signals[2] = g_unix_signal_add (SIGHUP, on_hangup, self);
  self->watchdog = sbx_watchdog_start ();
  self->connection = sbx_bus_connection_new (self->bus_address, &bus_events, self);
  g_main_loop_run (self->loop);
  if (self->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

SbxTurns *
sbx_daemon_turns (SbxDaemon *self)
{
  return self->turns;
}

SbxTurnContext *
sbx_daemon_context (SbxDaemon *self)
{
  return &self->context;
}

SbxWiper *
sbx_daemon_wiper (SbxDaemon *self)
{
  return self->wiper;
}

SbxChannelStore *
sbx_daemon_channels (SbxDaemon *self)
{
  return self->state.channels;
}

const char *const *
sbx_daemon_warnings (SbxDaemon *self)
{
  return (const char *const *) self->warnings;
}
