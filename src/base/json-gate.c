/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-gate.h"

#include "base/json-scan.h"

gboolean
sbx_json_gate (const char *data, gsize n_bytes, gsize max_bytes, GError **error)
{
  SbxJsonScan scan;
  SbxJsonEvent event;

  if (!sbx_json_scan_init (&scan, data, n_bytes, max_bytes, error))
    return FALSE;
  do
    event = sbx_json_scan_next (&scan, error);
  while (event != SBX_JSON_EVENT_ERROR && event != SBX_JSON_EVENT_END);
  sbx_json_scan_clear (&scan);
  return event == SBX_JSON_EVENT_END;
}

/* The open objects and lists, from the root. Each is owned by the one before it, the first by root. */
typedef struct {
  JsonNode *root;
  JsonNode *open[SBX_JSON_MAX_DEPTH];
  guint depth;
  char *name; /* of the member whose value comes next */
} Tree;

static void
tree_clear (Tree *self)
{
  g_clear_pointer (&self->root, json_node_unref);
  g_clear_pointer (&self->name, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tree, tree_clear)

/* Takes node. */
static void
tree_add (Tree *self, JsonNode *node)
{
  JsonNode *parent = self->depth > 0 ? self->open[self->depth - 1] : NULL;

  if (parent == NULL)
    self->root = node;
  else if (JSON_NODE_HOLDS_ARRAY (parent))
    json_array_add_element (json_node_get_array (parent), node);
  else
    {
      json_object_set_member (json_node_get_object (parent), self->name, node);
      g_clear_pointer (&self->name, g_free);
    }
}

/* Takes node, an object or a list. The scanner bounds the depth. */
static void
tree_open (Tree *self, JsonNode *node)
{
  tree_add (self, node);
  self->open[self->depth++] = node;
}

/* Puts one event into the tree. */
static void
tree_take (Tree *self, const SbxJsonScan *scan, SbxJsonEvent event)
{
  switch (event)
    {
    case SBX_JSON_EVENT_OBJECT:
      tree_open (self, json_node_new (JSON_NODE_OBJECT));
      json_node_take_object (self->open[self->depth - 1], json_object_new ());
      break;
    case SBX_JSON_EVENT_ARRAY:
      tree_open (self, json_node_new (JSON_NODE_ARRAY));
      json_node_take_array (self->open[self->depth - 1], json_array_new ());
      break;
    case SBX_JSON_EVENT_CLOSE:
      self->depth--;
      break;
    case SBX_JSON_EVENT_NAME:
      self->name = g_strndup (scan->text->str, scan->text->len);
      break;
    case SBX_JSON_EVENT_TEXT:
      tree_add (self, json_node_init_string (json_node_alloc (), scan->text->str));
      break;
    case SBX_JSON_EVENT_INTEGER:
      tree_add (self, json_node_init_int (json_node_alloc (), scan->integer));
      break;
    case SBX_JSON_EVENT_DOUBLE:
      tree_add (self, json_node_init_double (json_node_alloc (), scan->number));
      break;
    case SBX_JSON_EVENT_TRUE:
    case SBX_JSON_EVENT_FALSE:
      tree_add (self, json_node_init_boolean (json_node_alloc (), event == SBX_JSON_EVENT_TRUE));
      break;
    case SBX_JSON_EVENT_NULL:
      tree_add (self, json_node_init_null (json_node_alloc ()));
      break;
    case SBX_JSON_EVENT_ERROR:
    case SBX_JSON_EVENT_END:
    default:
      break;
    }
}

static JsonNode *
read_tree (const char *data, gsize n_bytes, gsize max_bytes, gboolean repeats_allowed, GError **error)
{
  g_auto (Tree) tree = { .root = NULL };
  SbxJsonScan scan;
  SbxJsonEvent event;

  if (!sbx_json_scan_init (&scan, data, n_bytes, max_bytes, error))
    return NULL;
  scan.repeats_allowed = repeats_allowed;
  do
    {
      event = sbx_json_scan_next (&scan, error);
      tree_take (&tree, &scan, event);
    }
  while (event != SBX_JSON_EVENT_ERROR && event != SBX_JSON_EVENT_END);
  sbx_json_scan_clear (&scan);
  return event == SBX_JSON_EVENT_END ? g_steal_pointer (&tree.root) : NULL;
}

JsonNode *
sbx_json_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error)
{
  return read_tree (data, n_bytes, max_bytes, FALSE, error);
}

JsonNode *
sbx_json_read_last_counts (const char *data, gsize n_bytes, gsize max_bytes, GError **error)
{
  return read_tree (data, n_bytes, max_bytes, TRUE, error);
}
