/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/channel-store.h"

#include <string.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/json-write.h"
#include "wire/bounds.h"

/* All keys at their longest, every byte escaped, would not fit; nobody has that, and the writer refuses it.
 */
#define MAX_FILE_BYTES (8u * 1024u * 1024u)

G_DEFINE_QUARK (sbx - channel - store - error - quark, sbx_channel_store_error)

struct _SbxChannelStore {
  SbxStateDir *directory;
  SbxStateWriter *writer;
  char *name;
  char *path;
  GHashTable *keys;
};

gboolean
sbx_channel_key_is_valid (const char *key)
{
  gsize n_bytes = strlen (key);
  const char *place = key;

  if (n_bytes == 0 || n_bytes > SBX_MAX_CHANNEL_BYTES || !g_utf8_validate (key, -1, NULL)
      || !g_ascii_islower (*place))
    return FALSE;
  while (g_ascii_islower (*place) || g_ascii_isdigit (*place) || *place == '_' || *place == '-')
    place++;
  if (*place != ':' || place[1] == '\0')
    return FALSE;
  /* The four line ends of ECMAScript, which `.` does not match. */
  return strpbrk (place, "\n\r") == NULL && strstr (place, "\xe2\x80\xa8") == NULL
         && strstr (place, "\xe2\x80\xa9") == NULL;
}

char *
sbx_channel_hash (const char *key)
{
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, key, -1);
}

static gboolean
store_read (SbxChannelStore *self, const char *text, gsize n_bytes, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (JsonNode) root = sbx_json_read (text, n_bytes, MAX_FILE_BYTES, &local_error);
  JsonArray *list;

  if (root == NULL || !JSON_NODE_HOLDS_ARRAY (root))
    {
      g_set_error (error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_MALFORMED,
                   "%s must be a JSON list of channel keys (%s); mend it or move it away", self->path,
                   local_error != NULL ? local_error->message : "it is something else");
      return FALSE;
    }
  list = json_node_get_array (root);
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      const char *key = sbx_json_node_text (json_array_get_element (list, i));

      if (key == NULL || !sbx_channel_key_is_valid (key) || i >= SBX_CHANNEL_STORE_MAX)
        {
          g_set_error (error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_MALFORMED,
                       "Entry %u of %s is not a channel key such as \"discord:123\"; mend or remove it",
                       i + 1, self->path);
          return FALSE;
        }
      g_hash_table_add (self->keys, g_strdup (key));
    }
  return TRUE;
}

static GString *
store_content (gpointer user_data)
{
  SbxChannelStore *self = user_data;
  g_autoptr (GPtrArray) keys = sbx_channel_store_list (self);
  GString *text = g_string_new ("[");

  for (guint i = 0; i < keys->len; i++)
    {
      if (i > 0)
        g_string_append_c (text, ',');
      sbx_json_write_text (text, keys->pdata[i], -1);
    }
  return g_string_append (text, "]\n");
}

/* At start. */
static gboolean
store_write (SbxChannelStore *self, GError **error)
{
  g_autoptr (GString) text = store_content (self);

  return sbx_state_dir_write (self->directory, self->name, text->str, text->len, SBX_STATE_ON_DISK, error);
}

SbxChannelStore *
sbx_channel_store_open (const char *path, const char *const *initial, GError **error)
{
  g_autoptr (SbxChannelStore) self = g_new0 (SbxChannelStore, 1);
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *text = NULL;
  gsize n_bytes = 0;

  self->path = g_strdup (path);
  self->name = g_path_get_basename (path);
  self->keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->directory = sbx_state_dir_open (directory, error);
  if (self->directory != NULL)
    self->writer = sbx_state_writer_new (self->directory);
  if (self->directory == NULL
      || !sbx_state_dir_read (self->directory, self->name, MAX_FILE_BYTES, &text, &n_bytes, error))
    return NULL;
  if (text != NULL)
    return store_read (self, text, n_bytes, error) ? g_steal_pointer (&self) : NULL;
  for (guint i = 0; initial != NULL && initial[i] != NULL; i++)
    if (sbx_channel_key_is_valid (initial[i]))
      g_hash_table_add (self->keys, g_strdup (initial[i]));
  return store_write (self, error) ? g_steal_pointer (&self) : NULL;
}

void
sbx_channel_store_free (SbxChannelStore *self)
{
  if (self == NULL)
    return;
  sbx_state_writer_free (self->writer);
  sbx_state_dir_free (self->directory);
  g_hash_table_unref (self->keys);
  g_free (self->name);
  g_free (self->path);
  g_free (self);
}

gboolean
sbx_channel_store_has (SbxChannelStore *self, const char *key)
{
  return g_hash_table_contains (self->keys, key);
}

guint
sbx_channel_store_count (SbxChannelStore *self)
{
  return g_hash_table_size (self->keys);
}

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
sbx_channel_store_list (SbxChannelStore *self)
{
  GPtrArray *keys = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->keys);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (keys, key);
  g_ptr_array_sort (keys, compare_keys);
  return keys;
}

typedef struct {
  SbxChannelStore *store;
  char *key;
  gboolean on;
  gboolean changes;
  GError *refused;
  SbxStateDone done;
  gpointer user_data;
} Change;

static void
change_key (SbxChannelStore *self, const char *key, gboolean on)
{
  if (on)
    g_hash_table_add (self->keys, g_strdup (key));
  else
    g_hash_table_remove (self->keys, key);
}

static void
on_written (const GError *error, gpointer user_data)
{
  g_autofree Change *change = user_data;
  g_autofree char *key = change->key;
  g_autoptr (GError) refused = change->refused;

  if (error != NULL && change->changes)
    change_key (change->store, key, !change->on);
  if (change->done != NULL)
    change->done (refused != NULL ? refused : error, change->user_data);
}

void
sbx_channel_store_set (SbxChannelStore *self, const char *key, gboolean on, SbxStateDone done,
                       gpointer user_data)
{
  Change *change;

  g_return_if_fail (sbx_channel_key_is_valid (key));

  change = g_new0 (Change, 1);
  change->store = self;
  change->key = g_strdup (key);
  change->on = on;
  change->changes = on != sbx_channel_store_has (self, key);
  change->done = done;
  change->user_data = user_data;
  if (on && change->changes && g_hash_table_size (self->keys) >= SBX_CHANNEL_STORE_MAX)
    {
      change->changes = FALSE;
      change->refused =
        g_error_new (SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_FULL,
                     "There are %u sandboxed channels already; switch one off first", SBX_CHANNEL_STORE_MAX);
    }
  if (change->changes)
    change_key (self, key, on);
  /* Where nothing changes it is written all the same: an earlier change may not have reached the disk. */
  sbx_state_writer_write (self->writer, self->name, store_content, self, on_written, change);
}
