/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/entry.h"

#include <json-glib/json-glib.h>
#include <string.h>
#include <syslog.h>

#include "base/text.h"

#define OURS           "SANDBOX_"
#define TURN_ID_LENGTH 16

SbxEntry *
sbx_entry_new (gint64 usec)
{
  SbxEntry *self = g_new0 (SbxEntry, 1);

  self->usec = usec;
  self->priority = LOG_INFO;
  self->fields = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

void
sbx_entry_free (SbxEntry *self)
{
  g_free (self->message);
  g_hash_table_unref (self->fields);
  g_free (self);
}

void
sbx_entry_take (SbxEntry *self, const char *data, gsize n_bytes)
{
  const char *equals = memchr (data, '=', n_bytes);
  g_autofree char *name = equals != NULL ? g_strndup (data, (gsize) (equals - data)) : NULL;
  g_autofree char *value = NULL;
  gsize left;

  if (equals == NULL)
    return;
  left = n_bytes - (gsize) (equals - data) - 1;
  value = g_utf8_make_valid (equals + 1, (gssize) left);
  if (g_str_equal (name, "MESSAGE"))
    {
      g_free (self->message);
      self->message = g_steal_pointer (&value);
    }
  else if (g_str_equal (name, "PRIORITY"))
    self->priority = (int) CLAMP (g_ascii_strtoll (value, NULL, 10), LOG_EMERG, LOG_DEBUG);
  else if (g_str_equal (name, "MESSAGE_ID") || g_str_has_prefix (name, OURS))
    g_hash_table_replace (self->fields, g_steal_pointer (&name), g_steal_pointer (&value));
}

char *
sbx_entry_text (const SbxEntry *self, gboolean with_channel, gboolean color)
{
  g_autoptr (GDateTime) utc = g_date_time_new_from_unix_utc (self->usec / G_USEC_PER_SEC);
  g_autoptr (GDateTime) local = utc != NULL ? g_date_time_to_local (utc) : NULL;
  g_autofree char *time = local != NULL ? g_date_time_format (local, "%b %d %H:%M:%S") : g_strdup ("?");
  g_autofree char *message = sbx_text_one_line (self->message != NULL ? self->message : "");
  const char *channel = g_hash_table_lookup (self->fields, OURS "CHANNEL");
  g_autofree char *place = channel != NULL && with_channel ? sbx_text_one_line (channel) : NULL;
  const char *on = !color                          ? ""
                   : self->priority <= LOG_ERR     ? "\033[31m"
                   : self->priority == LOG_WARNING ? "\033[33m"
                                                   : "";

  return g_strdup_printf ("%s.%03d  %s%s%s%s%s\n", time, (int) (self->usec % G_USEC_PER_SEC / 1000),
                          place != NULL ? place : "", place != NULL ? "  " : "", on, message,
                          *on != '\0' ? "\033[0m" : "");
}

char *
sbx_entry_json (const SbxEntry *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (self->fields), (GCompareFunc) g_strcmp0);
  g_autofree char *text = NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "time_usec");
  json_builder_add_int_value (builder, self->usec);
  json_builder_set_member_name (builder, "priority");
  json_builder_add_int_value (builder, self->priority);
  json_builder_set_member_name (builder, "message");
  json_builder_add_string_value (builder, self->message != NULL ? self->message : "");
  for (GList *item = names; item != NULL; item = item->next)
    {
      const char *name = item->data;
      g_autofree char *member =
        g_ascii_strdown (g_str_has_prefix (name, OURS) ? name + strlen (OURS) : name, -1);

      json_builder_set_member_name (builder, member);
      json_builder_add_string_value (builder, g_hash_table_lookup (self->fields, name));
    }
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  text = json_to_string (root, FALSE);
  return g_strconcat (text, "\n", NULL);
}

gboolean
sbx_entry_word_is_turn (const char *word)
{
  return strlen (word) == TURN_ID_LENGTH && strspn (word, "0123456789abcdef") == TURN_ID_LENGTH;
}

gboolean
sbx_entry_word_is_channel (const char *word)
{
  return strchr (word, ':') != NULL;
}
