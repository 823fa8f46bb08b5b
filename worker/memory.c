/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "memory.h"

#include <string.h>

#include "base/json-write.h"
#include "base/utf16.h"
#include "cut.h"
#include "json-in.h"

#define CHANNEL_SCOPE "channel"
#define SAVED         "Saved."
#define REMOVED       "Removed."

typedef struct {
  char *scope;
  char *key;
  char *text;
} Entry;

struct _SbxMemory {
  SbxStore *store;
  char *speaker_scope;
  GPtrArray *entries; /* of Entry, in stored order */
};

G_DEFINE_QUARK (sbx - memory - error - quark, sbx_memory_error)

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->scope);
  g_free (entry->key);
  g_free (entry->text);
  g_free (entry);
}

static Entry *
entry_new (const char *scope, const char *key, const char *text)
{
  Entry *entry = g_new0 (Entry, 1);

  entry->scope = g_strdup (scope);
  entry->key = g_strdup (key);
  entry->text = g_strdup (text);
  return entry;
}

static gpointer
entry_copy (gconstpointer data, gpointer user_data)
{
  const Entry *entry = data;

  return entry_new (entry->scope, entry->key, entry->text);
}

SbxMemory *
sbx_memory_new (SbxStore *store, const char *speaker_id)
{
  SbxMemory *self = g_new0 (SbxMemory, 1);

  self->store = store;
  self->speaker_scope = g_strconcat ("speaker:", speaker_id, NULL);
  self->entries = g_ptr_array_new_with_free_func (entry_free);
  return self;
}

void
sbx_memory_free (SbxMemory *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->entries);
  g_free (self->speaker_scope);
  g_free (self);
}

static gpointer
malformed (GError **error, const char *what)
{
  g_set_error (error, SBX_MEMORY_ERROR, SBX_MEMORY_ERROR_MALFORMED, SBX_MEMORY_FILE " %s", what);
  return NULL;
}

GPtrArray *
sbx_memory_parse (const char *data, gsize n_bytes, GError **error)
{
  g_autoptr (GVariant) root = sbx_json_in_read (data, n_bytes, SBX_STORE_MAX_BYTES, NULL);
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func (entry_free);

  if (root == NULL)
    return malformed (error, "is not JSON");
  if (!sbx_json_in_is_list (root))
    return malformed (error, "is not a list");
  if (sbx_json_in_length (root) > SBX_MEMORY_MAX_ENTRIES)
    return malformed (error, "has too many entries");
  for (guint i = 0; i < sbx_json_in_length (root); i++)
    {
      GVariant *object = sbx_json_in_element (root, i);
      const char *scope = sbx_json_in_text (object, "scope");
      const char *key = sbx_json_in_text (object, "key");
      const char *text = sbx_json_in_text (object, "text");

      if (scope == NULL || key == NULL || text == NULL)
        return malformed (error, "has an entry without its three texts");
      g_ptr_array_add (entries, entry_new (scope, key, text));
    }
  return g_steal_pointer (&entries);
}

SbxMemory *
sbx_memory_load (SbxStore *store, const char *speaker_id, GError **error)
{
  g_autoptr (SbxMemory) self = NULL;
  g_autoptr (GBytes) data = NULL;
  GPtrArray *entries;

  g_return_val_if_fail (store != NULL && speaker_id != NULL, NULL);

  self = sbx_memory_new (store, speaker_id);
  if (!sbx_store_read (store, SBX_MEMORY_FILE, &data, error))
    return NULL;
  if (data == NULL)
    return g_steal_pointer (&self);
  entries = sbx_memory_parse (g_bytes_get_data (data, NULL), g_bytes_get_size (data), error);
  if (entries == NULL)
    return NULL;
  g_ptr_array_unref (self->entries);
  self->entries = entries;
  return g_steal_pointer (&self);
}

static void
write_pair (GString *json, const Entry *entry)
{
  g_string_append (json, "{\"key\":");
  sbx_json_write_text (json, entry->key, -1);
  g_string_append (json, ",\"text\":");
  sbx_json_write_text (json, entry->text, -1);
  g_string_append_c (json, '}');
}

static gboolean
holds (const Entry *entry, const char *lowered_query)
{
  g_autofree char *line = g_strjoin (" ", entry->key, entry->text, NULL);
  g_autofree char *lowered = g_utf8_strdown (line, -1);

  return strstr (lowered, lowered_query) != NULL;
}

/* key and query may be NULL for any. */
static char *
list_entries (SbxMemory *self, const char *scope, const char *key, const char *query)
{
  g_autoptr (GString) json = g_string_new ("[");
  g_autofree char *lowered = query != NULL ? g_utf8_strdown (query, -1) : NULL;

  for (guint i = 0; i < self->entries->len; i++)
    {
      const Entry *entry = self->entries->pdata[i];

      if (strcmp (entry->scope, scope) != 0 || (key != NULL && strcmp (entry->key, key) != 0)
          || (lowered != NULL && !holds (entry, lowered)))
        continue;
      if (json->len > 1)
        g_string_append_c (json, ',');
      write_pair (json, entry);
    }
  g_string_append_c (json, ']');
  return g_string_free (g_steal_pointer (&json), FALSE);
}

char *
sbx_memory_list (SbxMemory *self, gboolean of_speaker)
{
  g_return_val_if_fail (self != NULL, NULL);

  return list_entries (self, of_speaker ? self->speaker_scope : CHANNEL_SCOPE, NULL, NULL);
}

static gpointer
break_rule (GError **error, const char *what)
{
  g_set_error (error, SBX_MEMORY_ERROR, SBX_MEMORY_ERROR_RULE, "a memory call %s", what);
  return NULL;
}

static const char *
read_scope (SbxMemory *self, GVariant *arguments, GError **error)
{
  const char *scope = sbx_json_in_text (arguments, "scope");

  if (g_strcmp0 (scope, "speaker") == 0)
    return self->speaker_scope;
  if (g_strcmp0 (scope, CHANNEL_SCOPE) == 0)
    return CHANNEL_SCOPE;
  return break_rule (error, "names no scope");
}

/* TRUE with *ret_key NULL where there is none. */
static gboolean
read_key (GVariant *arguments, char **ret_key, GError **error)
{
  const char *given = sbx_json_in_text (arguments, "key");
  g_autofree char *key = given != NULL ? sbx_text_trim (given) : NULL;

  if (key != NULL && (*key == '\0' || sbx_utf16_units (key) > SBX_MEMORY_MAX_KEY_UNITS))
    {
      break_rule (error, "has an empty or too long key");
      return FALSE;
    }
  *ret_key = g_steal_pointer (&key);
  return TRUE;
}

static void
write_entry (GString *json, const Entry *entry)
{
  g_string_append (json, "{\"scope\":");
  sbx_json_write_text (json, entry->scope, -1);
  g_string_append (json, ",\"key\":");
  sbx_json_write_text (json, entry->key, -1);
  g_string_append (json, ",\"text\":");
  sbx_json_write_text (json, entry->text, -1);
  g_string_append_c (json, '}');
}

/* Takes entries for the new content, if the file takes them. */
static gboolean
save (SbxMemory *self, GPtrArray *entries, GError **error)
{
  g_autoptr (GString) json = g_string_new ("[");

  for (guint i = 0; i < entries->len; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      write_entry (json, entries->pdata[i]);
    }
  g_string_append_c (json, ']');
  if (entries->len > SBX_MEMORY_MAX_ENTRIES || json->len > SBX_MEMORY_MAX_BYTES)
    {
      break_rule (error, "would leave more than the store takes");
      return FALSE;
    }
  if (!sbx_store_write (self->store, SBX_MEMORY_FILE, json->str, json->len, error))
    return FALSE;
  g_ptr_array_unref (self->entries);
  self->entries = g_ptr_array_ref (entries);
  return TRUE;
}

static GPtrArray *
without (SbxMemory *self, const char *scope, const char *key)
{
  GPtrArray *entries = g_ptr_array_copy (self->entries, entry_copy, NULL);

  g_ptr_array_set_free_func (entries, entry_free);
  for (guint i = entries->len; i > 0; i--)
    {
      const Entry *entry = entries->pdata[i - 1];

      if (strcmp (entry->scope, scope) == 0 && strcmp (entry->key, key) == 0)
        g_ptr_array_remove_index (entries, i - 1);
    }
  return entries;
}

char *
sbx_memory_get (SbxMemory *self, GVariant *arguments, GError **error)
{
  const char *scope = read_scope (self, arguments, error);
  g_autofree char *key = NULL;

  if (scope == NULL || !read_key (arguments, &key, error))
    return NULL;
  return list_entries (self, scope, key, sbx_json_in_text (arguments, "query"));
}

char *
sbx_memory_set (SbxMemory *self, GVariant *arguments, GError **error)
{
  const char *scope = read_scope (self, arguments, error);
  const char *text = sbx_json_in_text (arguments, "text");
  g_autofree char *key = NULL;
  g_autoptr (GPtrArray) entries = NULL;

  if (scope == NULL || !read_key (arguments, &key, error))
    return NULL;
  if (key == NULL)
    return break_rule (error, "has no key");
  if (text == NULL || sbx_text_is_blank (text) || sbx_utf16_units (text) > SBX_MEMORY_MAX_TEXT_UNITS)
    return break_rule (error, "has no text, or a too long one");
  entries = without (self, scope, key);
  g_ptr_array_add (entries, entry_new (scope, key, text));
  return save (self, entries, error) ? g_strdup (SAVED) : NULL;
}

char *
sbx_memory_remove (SbxMemory *self, GVariant *arguments, GError **error)
{
  const char *scope = read_scope (self, arguments, error);
  g_autofree char *key = NULL;
  g_autoptr (GPtrArray) entries = NULL;

  if (scope == NULL || !read_key (arguments, &key, error))
    return NULL;
  if (key == NULL)
    return break_rule (error, "has no key");
  entries = without (self, scope, key);
  return save (self, entries, error) ? g_strdup (REMOVED) : NULL;
}
