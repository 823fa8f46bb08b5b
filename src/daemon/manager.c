/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/source.h"
#include "daemon/manager-private.h"

#include "bus/bus-auto.h"
#include "bus/errors.h"
#include "sbx-config.h"
#include "turn/prepared.h"
#include "wire/bounds.h"

static int
property_get_version (sd_bus *bus, const char *path, const char *interface, const char *property,
                      sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_message_append (reply, "s", SBX_VERSION);
}

static int
property_get_turns_running (sd_bus *bus, const char *path, const char *interface, const char *property,
                            sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;

  return sd_bus_message_append (reply, "u", sbx_turns_n_running (sbx_daemon_turns (self->daemon)));
}

static int
property_get_turns_queued (sd_bus *bus, const char *path, const char *interface, const char *property,
                           sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;

  return sd_bus_message_append (reply, "u", sbx_turns_n_queued (sbx_daemon_turns (self->daemon)));
}

static int
property_get_turns_prepared (sd_bus *bus, const char *path, const char *interface, const char *property,
                             sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;

  return sd_bus_message_append (reply, "u",
                                sbx_prepared_n_waiting (sbx_daemon_context (self->daemon)->prepared));
}

static int
property_get_turns_finished (sd_bus *bus, const char *path, const char *interface, const char *property,
                             sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;

  return sd_bus_message_append (reply, "t", sbx_turns_n_finished (sbx_daemon_turns (self->daemon)));
}

static int
property_get_turns_failed (sd_bus *bus, const char *path, const char *interface, const char *property,
                           sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;

  return sd_bus_message_append (reply, "t", sbx_turns_n_failed (sbx_daemon_turns (self->daemon)));
}

static int
property_get_cleanups_pending (sd_bus *bus, const char *path, const char *interface, const char *property,
                               sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;

  return sd_bus_message_append (reply, "u", sbx_reaper_n_left (sbx_daemon_context (self->daemon)->reaper));
}

#define CHANGES SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE

static const sd_bus_vtable manager_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD_WITH_NAMES ("SetChannelMode", "ss", SD_BUS_PARAM (channel) SD_BUS_PARAM (mode), NULL, ,
                            sbx_method_set_channel_mode, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("GetChannelMode", "s", SD_BUS_PARAM (channel), "s", SD_BUS_PARAM (mode),
                            sbx_method_get_channel_mode, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("RunTurn", "ssssa{sv}",
                            SD_BUS_PARAM (channel) SD_BUS_PARAM (speaker_id) SD_BUS_PARAM (speaker_name)
                              SD_BUS_PARAM (text) SD_BUS_PARAM (options),
                            "bs", SD_BUS_PARAM (ok) SD_BUS_PARAM (text), sbx_method_run_turn,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("StartTurn", "ssssa{sv}",
                            SD_BUS_PARAM (channel) SD_BUS_PARAM (speaker_id) SD_BUS_PARAM (speaker_name)
                              SD_BUS_PARAM (text) SD_BUS_PARAM (options),
                            "o", SD_BUS_PARAM (turn), sbx_method_start_turn, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("Deliver", "a{sv}", SD_BUS_PARAM (message), "sa{sv}",
                            SD_BUS_PARAM (verdict) SD_BUS_PARAM (details), sbx_method_deliver,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("FindTurn", "ss", SD_BUS_PARAM (channel) SD_BUS_PARAM (message_id), "o",
                            SD_BUS_PARAM (turn), sbx_method_find_turn, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("StartFresh", "s", SD_BUS_PARAM (channel), NULL, , sbx_method_start_fresh,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("ListChannels", NULL, , "as", SD_BUS_PARAM (channels), sbx_method_list_channels,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("CancelTurn", "s", SD_BUS_PARAM (turn), NULL, , sbx_method_cancel_turn,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("ListTurns", NULL, , "a(sssutts)", SD_BUS_PARAM (turns), sbx_method_list_turns,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("PurgeChannel", "s", SD_BUS_PARAM (channel), NULL, , sbx_method_purge_channel,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("GetStatistics", "s", SD_BUS_PARAM (channel), "a{sv}", SD_BUS_PARAM (statistics),
                            sbx_method_get_statistics, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD_WITH_NAMES ("GetStatus", NULL, , "a{sv}", SD_BUS_PARAM (status), sbx_method_get_status,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("Reload", NULL, NULL, sbx_method_reload, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_PROPERTY ("Version", "s", property_get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
  SD_BUS_PROPERTY ("TurnsRunning", "u", property_get_turns_running, 0, CHANGES),
  SD_BUS_PROPERTY ("TurnsQueued", "u", property_get_turns_queued, 0, CHANGES),
  SD_BUS_PROPERTY ("TurnsPrepared", "u", property_get_turns_prepared, 0, CHANGES),
  SD_BUS_PROPERTY ("TurnsFinished", "t", property_get_turns_finished, 0, CHANGES),
  SD_BUS_PROPERTY ("TurnsFailed", "t", property_get_turns_failed, 0, CHANGES),
  SD_BUS_PROPERTY ("CleanupsPending", "u", property_get_cleanups_pending, 0, CHANGES),
  SD_BUS_VTABLE_END,
};

/* --- what the methods share --- */

SbxManagerCall *
sbx_manager_call_new (SbxManager *manager, sd_bus_message *message, const char *text, gboolean flag)
{
  SbxManagerCall *self = g_new0 (SbxManagerCall, 1);

  self->manager = manager;
  self->message = sd_bus_message_ref (message);
  self->text = g_strdup (text);
  self->flag = flag;
  return self;
}

void
sbx_manager_call_free (SbxManagerCall *self)
{
  sd_bus_message_unref (self->message);
  g_free (self->text);
  g_free (self);
}

void
sbx_manager_reply_error (sd_bus_message *message, const GError *error)
{
  g_auto (sd_bus_error) bus_error = SD_BUS_ERROR_NULL;

  (void) sbx_bus_error_set_gerror (&bus_error, error);
  (void) sd_bus_reply_method_error (message, &bus_error);
}

void
sbx_manager_send_reply (sd_bus_message *message, sd_bus_message *reply, int r)
{
  if (r >= 0)
    (void) sd_bus_send (NULL, reply, NULL);
  else
    (void) sd_bus_reply_method_errno (message, r, NULL);
}

int
sbx_manager_ask (SbxManager *self, sd_bus_message *message, const char *action, const char *channel,
                 GAsyncReadyCallback allowed)
{
  const char *const details[] = { "channel", channel, NULL };
  gboolean has_channel = channel != NULL && *channel != '\0';

  sbx_guard_check_async (self->guard, message, action, has_channel ? details : NULL, self->cancellable,
                         allowed, sbx_manager_call_new (self, message, channel, FALSE));
  return 1;
}

int
sbx_manager_check_channel (const char *channel, sd_bus_error *ret_error)
{
  if (sbx_channel_key_is_valid (channel))
    return 0;
  return sd_bus_error_setf (
    ret_error, sbx_bus_error_name (SBX_BUS_ERROR_INVALID_CHANNEL),
    "A channel is a key such as \"discord:123\": lower-case letters, digits, _ and -, a colon, "
    "then text without a line end; at most %u bytes",
    SBX_MAX_CHANNEL_BYTES);
}

/* --- the object --- */

static void
slot_free (gpointer data)
{
  sd_bus_slot_unref (data);
}

int
sbx_manager_keep_slot (GPtrArray *slots, sd_bus_slot *slot)
{
  if (slots != NULL)
    {
      g_ptr_array_add (slots, slot);
      return 0;
    }
  (void) sd_bus_slot_set_floating (slot, 1);
  sd_bus_slot_unref (slot);
  return 0;
}

static int
add_objects (SbxManager *self, sd_bus *bus, GPtrArray *slots)
{
  sd_bus_slot *slot = NULL;
  int r = sd_bus_add_object_vtable (bus, &slot, SBX_OBJECT_PATH, SBX_MANAGER_INTERFACE, manager_vtable, self);

  if (r < 0)
    return r;
  (void) sbx_manager_keep_slot (slots, slot);
  return sbx_objects_add (self, bus, slots);
}

static gboolean
on_peer_added (sd_bus *bus, gpointer user_data)
{
  return add_objects (user_data, bus, NULL) >= 0;
}

static void
on_peer_lost (sd_bus *bus, gpointer user_data)
{
  sbx_manager_drop_runs (user_data, bus);
}

static const SbxPrivateSocketEvents private_events = { on_peer_added, on_peer_lost };

void
sbx_manager_listen (SbxManager *self, int listener)
{
  g_return_if_fail (self->private_socket == NULL);

  self->private_socket = sbx_private_socket_new (listener, &private_events, self);
}

void
sbx_manager_foreach_bus (SbxManager *self, void (*func) (sd_bus *bus, gpointer user_data), gpointer user_data)
{
  if (self->bus != NULL)
    func (self->bus, user_data);
  sbx_private_socket_foreach (self->private_socket, func, user_data);
}

SbxManager *
sbx_manager_new (SbxDaemon *daemon, void (*claimed) (gboolean fine, const char *why, gpointer user_data),
                 gpointer user_data)
{
  SbxManager *self = g_new0 (SbxManager, 1);

  self->daemon = daemon;
  self->claimed = claimed;
  self->user_data = user_data;
  self->cancellable = g_cancellable_new ();
  self->runs = g_ptr_array_new_with_free_func (sbx_run_free);
  self->guard = sbx_guard_new ();
  self->slots = g_ptr_array_new_with_free_func (slot_free);
  return self;
}

void
sbx_manager_free (SbxManager *self)
{
  if (self == NULL)
    return;
  sbx_manager_detach (self);
  sbx_private_socket_free (self->private_socket);
  g_ptr_array_unref (self->runs);
  g_ptr_array_unref (self->slots);
  sbx_guard_free (self->guard);
  g_object_unref (self->cancellable);
  g_free (self);
}

gboolean
sbx_manager_attach (SbxManager *self, sd_bus *bus, GError **error)
{
  int r = add_objects (self, bus, self->slots);

  if (r >= 0)
    r = sbx_manager_watch_callers (self, bus, self->slots);
  if (r < 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "Cannot put the object on the bus: %s",
                   g_strerror (-r));
      return FALSE;
    }
  self->bus = bus;
  return TRUE;
}

void
sbx_manager_detach (SbxManager *self)
{
  sbx_source_clear (&self->changed_source);
  if (self->bus != NULL)
    sbx_manager_drop_runs (self, self->bus);
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  self->cancellable = g_cancellable_new ();
  g_ptr_array_set_size (self->slots, 0);
  self->name_slot = sd_bus_slot_unref (self->name_slot);
  self->bus = NULL;
}

static int
on_name_answered (sd_bus_message *answer, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;
  const sd_bus_error *error = sd_bus_message_get_error (answer);
  guint32 result = 0;

  if (error != NULL)
    self->claimed (FALSE, error->message != NULL ? error->message : error->name, self->user_data);
  else if (sd_bus_message_read (answer, "u", &result) < 0 || (result != 1 && result != 4))
    self->claimed (FALSE, "it has an owner already", self->user_data);
  else
    self->claimed (TRUE, NULL, self->user_data);
  return 0;
}

void
sbx_manager_claim_name (SbxManager *self)
{
  int r;

  if (self->bus == NULL)
    return;
  self->name_slot = sd_bus_slot_unref (self->name_slot);
  r = sd_bus_request_name_async (self->bus, &self->name_slot, SBX_BUS_NAME, 0, on_name_answered, self);
  if (r < 0)
    self->claimed (FALSE, g_strerror (-r), self->user_data);
}

static void
tell_counts (sd_bus *bus, gpointer user_data)
{
  (void) sd_bus_emit_properties_changed (bus, SBX_OBJECT_PATH, SBX_MANAGER_INTERFACE, "TurnsRunning",
                                         "TurnsQueued", "TurnsPrepared", "TurnsFinished", "TurnsFailed",
                                         "CleanupsPending", NULL);
}

static gboolean
on_changed (gpointer user_data)
{
  SbxManager *self = user_data;

  g_clear_pointer (&self->changed_source, g_source_unref);
  sbx_manager_foreach_bus (self, tell_counts, NULL);
  return G_SOURCE_REMOVE;
}

void
sbx_manager_counts_changed (SbxManager *self)
{
  if (self->changed_source != NULL)
    return;
  self->changed_source = g_idle_source_new ();
  g_source_set_callback (self->changed_source, on_changed, self, NULL);
  g_source_attach (self->changed_source, NULL);
}
