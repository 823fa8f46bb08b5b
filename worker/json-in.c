/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "json-in.h"

#include "base/json-gate.h"
#include "base/json-tree.h"

/* Commas and opening brackets outside texts: never fewer than the values. */
static gboolean
has_too_many_values (const char *data, gsize n_bytes)
{
  gboolean in_text = FALSE;
  guint n_values = 0;

  for (gsize i = 0; i < n_bytes; i++)
    {
      if (in_text && data[i] == '\\')
        i++;
      else if (data[i] == '"')
        in_text = !in_text;
      else if (!in_text && (data[i] == ',' || data[i] == '[' || data[i] == '{'))
        n_values++;
    }
  return n_values > SBX_JSON_IN_MAX_VALUES;
}

JsonNode *
sbx_json_in_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error)
{
  g_return_val_if_fail (data != NULL || n_bytes == 0, NULL);

  if (n_bytes > max_bytes || has_too_many_values (data, n_bytes))
    {
      g_set_error_literal (error, SBX_JSON_ERROR, SBX_JSON_ERROR_TOO_LARGE, "too many bytes or values");
      return NULL;
    }
  return sbx_json_read_last_counts (data != NULL ? data : "", n_bytes, max_bytes, error);
}

const char *
sbx_json_in_node_text (JsonNode *node)
{
  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return NULL;
  return json_node_get_string (node);
}

JsonObject *
sbx_json_in_node_object (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static JsonNode *
member (JsonObject *object, const char *name)
{
  return object != NULL && json_object_has_member (object, name) ? json_object_get_member (object, name)
                                                                 : NULL;
}

const char *
sbx_json_in_text (JsonObject *object, const char *name)
{
  return sbx_json_in_node_text (member (object, name));
}

JsonObject *
sbx_json_in_object (JsonObject *object, const char *name)
{
  return sbx_json_in_node_object (member (object, name));
}

JsonArray *
sbx_json_in_list (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name);

  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}
