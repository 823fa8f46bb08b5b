/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/resets.h"

#include <gio/gio.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/json-write.h"
#include "base/log.h"
#include "turn/channel-store.h"

#define MAX_FILE_BYTES (8u * 1024u * 1024u)

/* A list of pairs and no object: the gate bounds an object's members. */
struct _SbxResets {
  SbxStateWriter *writer;
  char *name;
  GHashTable *generations; /* channel -> guint64 */
};

/* 0: none is asked for any more. */
static void
resets_put (SbxResets *self, const char *channel, guint64 generation)
{
  if (generation == 0)
    g_hash_table_remove (self->generations, channel);
  else
    g_hash_table_insert (self->generations, g_strdup (channel), g_memdup2 (&generation, sizeof generation));
}

static gboolean
read_pair (SbxResets *self, JsonNode *node)
{
  JsonArray *pair = sbx_json_node_list (node);
  const char *channel;
  gint64 generation = 0;

  if (pair == NULL || json_array_get_length (pair) != 2)
    return FALSE;
  channel = sbx_json_node_text (json_array_get_element (pair, 0));
  if (channel == NULL || !sbx_channel_key_is_valid (channel)
      || !sbx_json_node_integer (json_array_get_element (pair, 1), &generation) || generation <= 0)
    return FALSE;
  resets_put (self, channel, (guint64) generation);
  return TRUE;
}

SbxResets *
sbx_resets_open (SbxStateDir *directory, const char *name, GError **error)
{
  g_autoptr (SbxResets) self = g_new0 (SbxResets, 1);
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *text = NULL;
  gsize n_bytes = 0;
  gboolean fine;

  self->writer = sbx_state_writer_new (directory);
  self->name = g_strdup (name);
  self->generations = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!sbx_state_dir_read (directory, name, MAX_FILE_BYTES, &text, &n_bytes, error))
    return NULL;
  if (text == NULL)
    return g_steal_pointer (&self);
  root = sbx_json_read (text, n_bytes, MAX_FILE_BYTES, NULL);
  fine = root != NULL && JSON_NODE_HOLDS_ARRAY (root)
         && json_array_get_length (json_node_get_array (root)) <= SBX_RESETS_MAX;
  for (guint i = 0; fine && i < json_array_get_length (json_node_get_array (root)); i++)
    fine = read_pair (self, json_array_get_element (json_node_get_array (root), i));
  if (fine)
    return g_steal_pointer (&self);
  g_set_error (
    error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
    "%s in the state directory must be a list of pairs such as [\"discord:123\", 1]; mend it or move it "
    "away",
    name);
  return NULL;
}

void
sbx_resets_free (SbxResets *self)
{
  if (self == NULL)
    return;
  sbx_state_writer_free (self->writer);
  g_hash_table_unref (self->generations);
  g_free (self->name);
  g_free (self);
}

static GString *
resets_content (gpointer user_data)
{
  SbxResets *self = user_data;
  GString *text = g_string_new ("[");
  GHashTableIter iter;
  gpointer channel, generation;

  g_hash_table_iter_init (&iter, self->generations);
  while (g_hash_table_iter_next (&iter, &channel, &generation))
    {
      g_string_append (text, text->len > 1 ? ",[" : "[");
      sbx_json_write_text (text, channel, -1);
      g_string_append_printf (text, ",%" G_GUINT64_FORMAT "]", *(const guint64 *) generation);
    }
  return g_string_append (text, "]\n");
}

guint64
sbx_resets_generation (SbxResets *self, const char *channel)
{
  const guint64 *generation = g_hash_table_lookup (self->generations, channel);

  return generation != NULL ? *generation : 0;
}

typedef struct {
  SbxResets *resets;
  char *channel;
  guint64 before;
  SbxStateDone done;
  gpointer user_data;
} Request;

static void
on_asked (const GError *error, gpointer user_data)
{
  g_autofree Request *request = user_data;
  g_autofree char *channel = request->channel;

  if (error != NULL && sbx_resets_generation (request->resets, channel) == request->before + 1)
    resets_put (request->resets, channel, request->before);
  if (request->done != NULL)
    request->done (error, request->user_data);
}

gboolean
sbx_resets_ask (SbxResets *self, const char *channel, SbxStateDone done, gpointer user_data, GError **error)
{
  guint64 before = sbx_resets_generation (self, channel);
  Request *request;

  if (before == 0 && g_hash_table_size (self->generations) >= SBX_RESETS_MAX)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE, "%u channels wait for a fresh start already",
                   SBX_RESETS_MAX);
      return FALSE;
    }
  request = g_new0 (Request, 1);
  request->resets = self;
  request->channel = g_strdup (channel);
  request->before = before;
  request->done = done;
  request->user_data = user_data;
  resets_put (self, channel, before + 1);
  sbx_state_writer_write (self->writer, self->name, resets_content, self, on_asked, request);
  return TRUE;
}

static void
on_purged (const GError *error, gpointer user_data)
{
  if (error != NULL)
    sbx_log (LOG_ERR, NULL,
             "A fresh start that was given is not written down, and would be given again after a restart: %s",
             error->message);
}

void
sbx_resets_purge (SbxResets *self, const char *channel)
{
  if (g_hash_table_remove (self->generations, channel))
    sbx_state_writer_write (self->writer, self->name, resets_content, self, on_purged, NULL);
}

void
sbx_resets_consume (SbxResets *self, const char *channel, guint64 generation)
{
  if (generation != 0 && sbx_resets_generation (self, channel) == generation)
    sbx_resets_purge (self, channel);
}
