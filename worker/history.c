/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "history.h"

#include "base/json-write.h"
#include "conversation.h"
#include "cut.h"
#include "json-in.h"

G_DEFINE_QUARK (sbx - history - error - quark, sbx_history_error)

static void
message_free (gpointer data)
{
  SbxHistoryMessage *message = data;

  g_free (message->content);
  g_free (message);
}

GPtrArray *
sbx_history_new (void)
{
  return g_ptr_array_new_with_free_func (message_free);
}

static const char *
known_role (const char *role)
{
  if (g_strcmp0 (role, "user") == 0)
    return "user";
  return g_strcmp0 (role, "assistant") == 0 ? "assistant" : NULL;
}

void
sbx_history_add (GPtrArray *history, const char *role, const char *content)
{
  SbxHistoryMessage *message;

  g_return_if_fail (history != NULL && known_role (role) != NULL && content != NULL);

  message = g_new0 (SbxHistoryMessage, 1);
  message->role = known_role (role);
  message->content = g_strdup (content);
  g_ptr_array_add (history, message);
}

void
sbx_history_add_exchange (GPtrArray *history, const char *user_text, const char *reply)
{
  g_autofree char *cut = sbx_text_cut (user_text, SBX_USER_MESSAGE_BYTES);

  sbx_history_add (history, "user", cut);
  sbx_history_add (history, "assistant", reply);
}

static gpointer
malformed (GError **error, const char *what)
{
  g_set_error (error, SBX_HISTORY_ERROR, SBX_HISTORY_ERROR_MALFORMED, SBX_HISTORY_FILE " %s", what);
  return NULL;
}

GPtrArray *
sbx_history_parse (const char *data, gsize n_bytes, GError **error)
{
  g_autoptr (GVariant) root = sbx_json_in_read (data, n_bytes, SBX_STORE_MAX_BYTES, NULL);
  g_autoptr (GPtrArray) history = sbx_history_new ();

  if (root == NULL)
    return malformed (error, "is not JSON");
  if (!sbx_json_in_is_list (root))
    return malformed (error, "is not a list");
  if (sbx_json_in_length (root) > SBX_HISTORY_MAX_MESSAGES)
    return malformed (error, "has too many messages");
  for (guint i = 0; i < sbx_json_in_length (root); i++)
    {
      GVariant *object = sbx_json_in_element (root, i);
      const char *role = known_role (sbx_json_in_text (object, "role"));
      const char *content = sbx_json_in_text (object, "content");

      if (role == NULL || content == NULL)
        return malformed (error, "has a message without a known role and a text");
      sbx_history_add (history, role, content);
    }
  return g_steal_pointer (&history);
}

GPtrArray *
sbx_history_load (SbxStore *store, GError **error)
{
  g_autoptr (GBytes) data = NULL;

  g_return_val_if_fail (store != NULL, NULL);

  if (!sbx_store_read (store, SBX_HISTORY_FILE, &data, error))
    return NULL;
  if (data == NULL)
    return sbx_history_new ();
  return sbx_history_parse (g_bytes_get_data (data, NULL), g_bytes_get_size (data), error);
}

gboolean
sbx_history_save (SbxStore *store, GPtrArray *history, GError **error)
{
  g_autoptr (GString) json = g_string_new ("[");
  guint first;

  g_return_val_if_fail (store != NULL && history != NULL, FALSE);

  first = history->len > SBX_HISTORY_MAX_MESSAGES ? history->len - SBX_HISTORY_MAX_MESSAGES : 0;
  for (guint i = first; i < history->len; i++)
    {
      const SbxHistoryMessage *message = history->pdata[i];
      g_autofree char *cut = sbx_text_cut (message->content, SBX_HISTORY_MESSAGE_BYTES);

      g_string_append (json, i == first ? "{\"role\":" : ",{\"role\":");
      sbx_json_write_text (json, message->role, -1);
      g_string_append (json, ",\"content\":");
      sbx_json_write_text (json, cut, -1);
      g_string_append_c (json, '}');
    }
  g_string_append_c (json, ']');
  return sbx_store_write (store, SBX_HISTORY_FILE, json->str, json->len, error);
}
