/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The objects of channels and turns. They are looked up at each use by their path, so that none has to be
 * made or freed: a channel is there while it is on the list, a turn while it lives. */
#include "daemon/manager-private.h"

#include <errno.h>
#include <string.h>

#define CHANNELS_PATH SBX_OBJECT_PATH "/channel"
#define TURNS_PATH    SBX_OBJECT_PATH "/turn"

#define CHANGES SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE

char *
sbx_turn_path (const char *turn)
{
  return g_strconcat (TURNS_PATH "/", turn, NULL);
}

char *
sbx_channel_path (const char *channel)
{
  char *path = NULL;
  char *copy;

  if (sd_bus_path_encode (CHANNELS_PATH, channel, &path) < 0)
    g_error ("out of memory"); /* its only failure with a good prefix */
  copy = g_strdup (path);
  free (path);
  return copy;
}

/* --- channels --- */

static char *
channel_of (const char *path)
{
  char *key = NULL;
  char *copy;

  if (sd_bus_path_decode (path, CHANNELS_PATH, &key) <= 0)
    return NULL;
  copy = g_strdup (key);
  free (key);
  return copy;
}

static int
find_channel (sd_bus *bus, const char *path, const char *interface, void *user_data, void **ret_found,
              sd_bus_error *ret_error)
{
  SbxManager *self = user_data;
  g_autofree char *key = channel_of (path);

  if (key == NULL || !sbx_channel_store_has (sbx_daemon_channels (self->daemon), key))
    return 0;
  *ret_found = self;
  return 1;
}

static int
property_get_key (sd_bus *bus, const char *path, const char *interface, const char *property,
                  sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  g_autofree char *key = channel_of (path);

  return sd_bus_message_append (reply, "s", key);
}

static guint
count_turns (SbxManager *self, const char *path, gboolean queued)
{
  g_autofree char *key = channel_of (path);
  g_autoptr (GPtrArray) turns = sbx_turns_list (sbx_daemon_turns (self->daemon));
  guint n = 0;

  for (guint i = 0; i < turns->len; i++)
    {
      const SbxTurn *turn = turns->pdata[i];

      n += (sbx_turn_state (turn) == SBX_TURN_STATE_QUEUED) == queued
           && g_strcmp0 (sbx_turn_channel (turn), key) == 0;
    }
  return n;
}

static int
property_get_running (sd_bus *bus, const char *path, const char *interface, const char *property,
                      sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_message_append (reply, "b", count_turns (user_data, path, FALSE) > 0);
}

static int
property_get_queued (sd_bus *bus, const char *path, const char *interface, const char *property,
                     sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_message_append (reply, "u", count_turns (user_data, path, TRUE));
}

static int
method_set_mode (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  g_autofree char *key = channel_of (sd_bus_message_get_path (message));
  const char *mode;
  int r = sd_bus_message_read (message, "s", &mode);

  return r < 0 ? r : sbx_manager_set_mode (user_data, message, key, mode, ret_error);
}

static int
method_start_fresh (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  g_autofree char *key = channel_of (sd_bus_message_get_path (message));

  return sbx_manager_start_fresh (user_data, message, key);
}

static const sd_bus_vtable channel_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD_WITH_NAMES ("SetMode", "s", SD_BUS_PARAM (mode), NULL, , method_set_mode,
                            SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("StartFresh", NULL, NULL, method_start_fresh, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_PROPERTY ("Key", "s", property_get_key, 0, SD_BUS_VTABLE_PROPERTY_CONST),
  SD_BUS_PROPERTY ("Running", "b", property_get_running, 0, CHANGES),
  SD_BUS_PROPERTY ("Queued", "u", property_get_queued, 0, CHANGES),
  SD_BUS_VTABLE_END,
};

/* As sd-bus wants it: a list and texts of malloc()'s. */
static char **
paths_new (gsize n)
{
  char **paths = calloc (n + 1, sizeof (char *));

  if (paths == NULL)
    g_error ("out of memory");
  return paths;
}

static int
enumerate_channels (sd_bus *bus, const char *prefix, void *user_data, char ***ret_nodes,
                    sd_bus_error *ret_error)
{
  SbxManager *self = user_data;
  g_autoptr (GPtrArray) keys = sbx_channel_store_list (sbx_daemon_channels (self->daemon));
  char **paths = paths_new (keys->len);

  for (guint i = 0; i < keys->len; i++)
    {
      g_autofree char *path = sbx_channel_path (keys->pdata[i]);

      paths[i] = strdup (path);
    }
  *ret_nodes = paths;
  return 0;
}

/* --- turns --- */

/* A turn that is not over, or what is recorded of one. */
typedef struct {
  const char *id;
  const char *channel;
  const char *state;
  const char *outcome; /* empty: none yet */
  const char *reason;  /* empty: none */
  guint32 uid;
  guint64 accepted_usec;
  guint64 since_usec;    /* that it is in this state */
  const char *waits_for; /* empty: for nothing */
} View;

static gboolean
view_turn (SbxManager *self, const char *path, View *ret_view)
{
  SbxTurns *turns = sbx_daemon_turns (self->daemon);
  const char *id = sbx_turn_of_path (path);
  const SbxTurn *turn = id != NULL ? sbx_turns_find (turns, id) : NULL;
  const SbxRecord *record = id != NULL ? sbx_turns_record (turns, id) : NULL;

  if (turn == NULL && record == NULL)
    return FALSE;
  *ret_view = (View){
    .id = id,
    .channel = turn != NULL ? sbx_turn_channel (turn) : record->channel,
    .state = turn != NULL ? sbx_turn_state_name (sbx_turn_state (turn)) : "ended",
    .outcome = record != NULL ? sbx_outcome_name (record->kind) : "",
    .reason = record != NULL && record->failure != SBX_FAILURE_NONE ? sbx_failure_name (record->failure) : "",
    .uid = turn != NULL ? sbx_turn_uid (turn) : record->uid,
    .accepted_usec = (guint64) (turn != NULL ? sbx_turn_accepted_usec (turn) : record->accepted_usec),
    .since_usec = (guint64) (turn != NULL ? sbx_turn_state_since_usec (turn) : record->finished_usec),
    .waits_for = turn != NULL ? sbx_turns_waits_for (turns, turn) : "",
  };
  return TRUE;
}

const char *
sbx_turn_of_path (const char *path)
{
  return g_str_has_prefix (path, TURNS_PATH "/") ? path + strlen (TURNS_PATH "/") : NULL;
}

static int
find_turn (sd_bus *bus, const char *path, const char *interface, void *user_data, void **ret_found,
           sd_bus_error *ret_error)
{
  View view;

  if (!view_turn (user_data, path, &view))
    return 0;
  *ret_found = user_data;
  return 1;
}

/* One for all: property says which. */
static int
property_get_turn (sd_bus *bus, const char *path, const char *interface, const char *property,
                   sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  View view;

  if (!view_turn (user_data, path, &view))
    return -ENOENT;
  if (strcmp (property, "User") == 0)
    return sd_bus_message_append (reply, "u", view.uid);
  if (strcmp (property, "Accepted") == 0)
    return sd_bus_message_append (reply, "t", view.accepted_usec);
  if (strcmp (property, "StateSince") == 0)
    return sd_bus_message_append (reply, "t", view.since_usec);
  {
    const struct {
      const char *name;
      const char *value;
    } texts[] = { { "Id", view.id },           { "Channel", view.channel },
                  { "State", view.state },     { "WaitsFor", view.waits_for },
                  { "Outcome", view.outcome }, { "Reason", view.reason } };

    for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
      if (strcmp (property, texts[i].name) == 0)
        return sd_bus_message_append (reply, "s", texts[i].value);
  }
  return -ENOENT;
}

static int
method_cancel (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sbx_manager_cancel (user_data, message, sbx_turn_of_path (sd_bus_message_get_path (message)));
}

static const sd_bus_vtable turn_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD_WITH_NAMES ("Wait", "a{sv}", SD_BUS_PARAM (options), "a{sv}", SD_BUS_PARAM (outcome),
                            sbx_method_wait, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_SIGNAL_WITH_NAMES ("Finished", "a{sv}", SD_BUS_PARAM (outcome), 0),
  SD_BUS_METHOD ("Cancel", NULL, NULL, method_cancel, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_PROPERTY ("Id", "s", property_get_turn, 0, SD_BUS_VTABLE_PROPERTY_CONST),
  SD_BUS_PROPERTY ("Channel", "s", property_get_turn, 0, SD_BUS_VTABLE_PROPERTY_CONST),
  SD_BUS_PROPERTY ("State", "s", property_get_turn, 0, CHANGES),
  SD_BUS_PROPERTY ("StateSince", "t", property_get_turn, 0, CHANGES),
  SD_BUS_PROPERTY ("WaitsFor", "s", property_get_turn, 0, 0),
  SD_BUS_PROPERTY ("Outcome", "s", property_get_turn, 0, CHANGES),
  SD_BUS_PROPERTY ("Reason", "s", property_get_turn, 0, CHANGES),
  SD_BUS_PROPERTY ("User", "u", property_get_turn, 0, SD_BUS_VTABLE_PROPERTY_CONST),
  SD_BUS_PROPERTY ("Accepted", "t", property_get_turn, 0, SD_BUS_VTABLE_PROPERTY_CONST),
  SD_BUS_VTABLE_END,
};

static int
enumerate_turns (sd_bus *bus, const char *prefix, void *user_data, char ***ret_nodes, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;
  g_autoptr (GPtrArray) turns = sbx_turns_list (sbx_daemon_turns (self->daemon));
  g_autoptr (GPtrArray) records = sbx_record_store_list (sbx_daemon_context (self->daemon)->records);
  char **paths = paths_new (turns->len + records->len);
  gsize n = 0;

  for (guint i = 0; i < turns->len; i++)
    {
      g_autofree char *path = sbx_turn_path (sbx_turn_id (turns->pdata[i]));

      paths[n++] = strdup (path);
    }
  for (guint i = 0; i < records->len; i++)
    {
      const SbxRecord *record = records->pdata[i];
      g_autofree char *path = sbx_turn_path (record->turn);

      /* One that has its outcome and is still being removed is in both lists. */
      if (sbx_turns_find (sbx_daemon_turns (self->daemon), record->turn) == NULL)
        paths[n++] = strdup (path);
    }
  *ret_nodes = paths;
  return 0;
}

/* --- on a bus --- */

int
sbx_objects_add (SbxManager *self, sd_bus *bus, GPtrArray *slots)
{
  sd_bus_slot *added[5] = { NULL };
  int r;

  if ((r = sd_bus_add_object_manager (bus, &added[0], SBX_OBJECT_PATH)) >= 0
      && (r = sd_bus_add_fallback_vtable (bus, &added[1], CHANNELS_PATH, SBX_CHANNEL_INTERFACE,
                                          channel_vtable, find_channel, self))
           >= 0
      && (r = sd_bus_add_node_enumerator (bus, &added[2], CHANNELS_PATH, enumerate_channels, self)) >= 0
      && (r = sd_bus_add_fallback_vtable (bus, &added[3], TURNS_PATH, SBX_TURN_INTERFACE, turn_vtable,
                                          find_turn, self))
           >= 0)
    r = sd_bus_add_node_enumerator (bus, &added[4], TURNS_PATH, enumerate_turns, self);
  for (gsize i = 0; i < G_N_ELEMENTS (added); i++)
    if (added[i] != NULL)
      (void) sbx_manager_keep_slot (slots, added[i]);
  return r;
}

/* --- what is told of them --- */

typedef struct {
  const char *path;
  const char *interface;
} Object;

static void
tell_added (sd_bus *bus, gpointer user_data)
{
  const Object *object = user_data;

  (void) sd_bus_emit_interfaces_added (bus, object->path, object->interface, NULL);
}

static void
tell_removed (sd_bus *bus, gpointer user_data)
{
  const Object *object = user_data;

  (void) sd_bus_emit_interfaces_removed (bus, object->path, object->interface, NULL);
}

static void
tell_state (sd_bus *bus, gpointer user_data)
{
  (void) sd_bus_emit_properties_changed (bus, ((const Object *) user_data)->path, SBX_TURN_INTERFACE, "State",
                                         "StateSince", "Outcome", "Reason", NULL);
}

static void
tell_channel_counts (sd_bus *bus, gpointer user_data)
{
  (void) sd_bus_emit_properties_changed (bus, ((const Object *) user_data)->path, SBX_CHANNEL_INTERFACE,
                                         "Running", "Queued", NULL);
}

static void
tell_turn (SbxManager *self, const char *turn, void (*tell) (sd_bus *bus, gpointer user_data))
{
  g_autofree char *path = sbx_turn_path (turn);
  Object object = { path, SBX_TURN_INTERFACE };

  sbx_manager_foreach_bus (self, tell, &object);
}

static void
tell_counts_of (SbxManager *self, const char *channel)
{
  g_autofree char *path = sbx_channel_path (channel);
  Object object = { path, SBX_CHANNEL_INTERFACE };

  if (sbx_channel_store_has (sbx_daemon_channels (self->daemon), channel))
    sbx_manager_foreach_bus (self, tell_channel_counts, &object);
}

void
sbx_manager_turn_added (SbxManager *self, SbxTurn *turn)
{
  tell_turn (self, sbx_turn_id (turn), tell_added);
  tell_counts_of (self, sbx_turn_channel (turn));
}

void
sbx_manager_turn_changed (SbxManager *self, SbxTurn *turn)
{
  tell_turn (self, sbx_turn_id (turn), tell_state);
  tell_counts_of (self, sbx_turn_channel (turn));
}

void
sbx_manager_turn_gone (SbxManager *self, const char *id)
{
  tell_turn (self, id, tell_removed);
}

void
sbx_manager_mode_changed (SbxManager *self, const char *channel, gboolean on)
{
  g_autofree char *path = sbx_channel_path (channel);
  Object object = { path, SBX_CHANNEL_INTERFACE };

  sbx_manager_foreach_bus (self, on ? tell_added : tell_removed, &object);
}
