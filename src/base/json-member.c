/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-member.h"

static gboolean
holds (JsonNode *node, GType type)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type;
}

static JsonNode *
member (JsonObject *object, const char *name)
{
  return object != NULL ? json_object_get_member (object, name) : NULL;
}

const char *
sbx_json_node_text (JsonNode *node)
{
  return holds (node, G_TYPE_STRING) ? json_node_get_string (node) : NULL;
}

JsonObject *
sbx_json_node_object (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

JsonArray *
sbx_json_node_list (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

gboolean
sbx_json_node_integer (JsonNode *node, gint64 *ret_integer)
{
  if (!holds (node, G_TYPE_INT64))
    return FALSE;
  *ret_integer = json_node_get_int (node);
  return TRUE;
}

gboolean
sbx_json_node_boolean (JsonNode *node, gboolean *ret_boolean)
{
  if (!holds (node, G_TYPE_BOOLEAN))
    return FALSE;
  *ret_boolean = json_node_get_boolean (node);
  return TRUE;
}

const char *
sbx_json_member_text (JsonObject *object, const char *name)
{
  return sbx_json_node_text (member (object, name));
}

JsonObject *
sbx_json_member_object (JsonObject *object, const char *name)
{
  return sbx_json_node_object (member (object, name));
}

JsonArray *
sbx_json_member_list (JsonObject *object, const char *name)
{
  return sbx_json_node_list (member (object, name));
}

gboolean
sbx_json_member_integer (JsonObject *object, const char *name, gint64 *ret_integer)
{
  return sbx_json_node_integer (member (object, name), ret_integer);
}

gboolean
sbx_json_member_boolean (JsonObject *object, const char *name, gboolean *ret_boolean)
{
  return sbx_json_node_boolean (member (object, name), ret_boolean);
}
