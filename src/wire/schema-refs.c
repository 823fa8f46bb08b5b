/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/schema-refs.h"

#include <string.h>

/* What a keyword's value has to be; every other keyword is data. */
typedef enum {
  DATA,
  REFERENCE,      /* a text beginning with # */
  VOCABULARY,     /* an object whose names begin with # */
  SCHEMAS,        /* an object of schemas */
  SCHEMA_OR_LIST, /* a schema or a list of them */
  LIST,           /* a list of schemas */
  DEPENDENCIES,   /* where an object, of lists that are data, or schemas */
} Kind;

static const struct {
  const char *keyword;
  Kind kind;
} kinds[] = {
  { "$ref", REFERENCE },
  { "$dynamicRef", REFERENCE },
  { "$recursiveRef", REFERENCE },
  { "$schema", REFERENCE },
  { "$id", REFERENCE },
  { "$vocabulary", VOCABULARY },
  { "properties", SCHEMAS },
  { "patternProperties", SCHEMAS },
  { "$defs", SCHEMAS },
  { "definitions", SCHEMAS },
  { "dependentSchemas", SCHEMAS },
  { "items", SCHEMA_OR_LIST },
  { "contains", SCHEMA_OR_LIST },
  { "additionalProperties", SCHEMA_OR_LIST },
  { "unevaluatedProperties", SCHEMA_OR_LIST },
  { "unevaluatedItems", SCHEMA_OR_LIST },
  { "propertyNames", SCHEMA_OR_LIST },
  { "not", SCHEMA_OR_LIST },
  { "if", SCHEMA_OR_LIST },
  { "then", SCHEMA_OR_LIST },
  { "else", SCHEMA_OR_LIST },
  { "contentSchema", SCHEMA_OR_LIST },
  { "additionalItems", SCHEMA_OR_LIST },
  { "allOf", LIST },
  { "anyOf", LIST },
  { "oneOf", LIST },
  { "prefixItems", LIST },
  { "dependencies", DEPENDENCIES },
};

static Kind
kind_of (const char *keyword)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (keyword, kinds[i].keyword) == 0)
      return kinds[i].kind;
  return DATA;
}

static gboolean
is_local_reference (JsonNode *value)
{
  return json_node_get_value_type (value) == G_TYPE_STRING && json_node_get_string (value)[0] == '#';
}

static gboolean
is_local_vocabulary (JsonNode *value)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *ignored;

  if (!JSON_NODE_HOLDS_OBJECT (value))
    return FALSE;
  json_object_iter_init_ordered (&iter, json_node_get_object (value));
  while (json_object_iter_next_ordered (&iter, &name, &ignored))
    if (name[0] != '#')
      return FALSE;
  return TRUE;
}

static gboolean
push_list (GPtrArray *pending, JsonNode *value)
{
  JsonArray *list;

  if (!JSON_NODE_HOLDS_ARRAY (value))
    return FALSE;
  list = json_node_get_array (value);
  for (guint i = 0; i < json_array_get_length (list); i++)
    g_ptr_array_add (pending, json_array_get_element (list, i));
  return TRUE;
}

static gboolean
push_schemas (GPtrArray *pending, JsonNode *value, gboolean lists_are_data)
{
  JsonObjectIter iter;
  const char *name; /* json-glib 1.6 writes to it without a look whether it may */
  JsonNode *schema;

  if (!JSON_NODE_HOLDS_OBJECT (value))
    return FALSE;
  json_object_iter_init_ordered (&iter, json_node_get_object (value));
  while (json_object_iter_next_ordered (&iter, &name, &schema))
    if (!lists_are_data || !JSON_NODE_HOLDS_ARRAY (schema))
      g_ptr_array_add (pending, schema);
  return TRUE;
}

/* Holds a member against the rules; the schemas in it are left for later. */
static gboolean
member_is_local (GPtrArray *pending, const char *keyword, JsonNode *value)
{
  switch (kind_of (keyword))
    {
    case REFERENCE:
      return is_local_reference (value);
    case VOCABULARY:
      return is_local_vocabulary (value);
    case SCHEMAS:
      return push_schemas (pending, value, FALSE);
    case SCHEMA_OR_LIST:
      if (!JSON_NODE_HOLDS_ARRAY (value))
        g_ptr_array_add (pending, value);
      else
        (void) push_list (pending, value);
      return TRUE;
    case LIST:
      return push_list (pending, value);
    case DEPENDENCIES:
      return !JSON_NODE_HOLDS_OBJECT (value) || push_schemas (pending, value, TRUE);
    case DATA:
    default:
      return TRUE;
    }
}

static gboolean
step_is_local (GPtrArray *pending, JsonNode *schema)
{
  JsonObjectIter iter;
  const char *keyword;
  JsonNode *value;

  if (json_node_get_value_type (schema) == G_TYPE_BOOLEAN)
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (schema))
    return FALSE;
  json_object_iter_init_ordered (&iter, json_node_get_object (schema));
  while (json_object_iter_next_ordered (&iter, &keyword, &value))
    if (!member_is_local (pending, keyword, value))
      return FALSE;
  return TRUE;
}

gboolean
sbx_schema_is_local (JsonNode *schema)
{
  g_autoptr (GPtrArray) pending = g_ptr_array_new ();

  g_ptr_array_add (pending, schema);
  while (pending->len > 0)
    if (!step_is_local (pending, g_ptr_array_steal_index_fast (pending, pending->len - 1)))
      return FALSE;
  return TRUE;
}
