/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-tree.h"

#include "base/json-scan.h"
#include "base/json-write.h"

/* --- reading --- */

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

/* --- writing --- */

/* An object or list that is being written. */
typedef struct {
  JsonArray *array; /* NULL for an object */
  guint next;       /* element of the array */
  JsonObjectIter members;
  gboolean started;
} Level;

static void
write_value (GString *out, JsonNode *node)
{
  GType type = json_node_get_value_type (node);

  if (type == G_TYPE_STRING)
    sbx_json_write_text (out, json_node_get_string (node), -1);
  else if (type == G_TYPE_BOOLEAN)
    g_string_append (out, json_node_get_boolean (node) ? "true" : "false");
  else if (type == G_TYPE_INT64)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, json_node_get_int (node));
  else
    sbx_json_write_double (out, json_node_get_double (node));
}

/* Writes node, or opens it as a new level. */
static void
write_begin (GString *out, GArray *levels, JsonNode *node)
{
  Level level = { .array = NULL };

  switch (json_node_get_node_type (node))
    {
    case JSON_NODE_OBJECT:
      g_string_append_c (out, '{');
      json_object_iter_init_ordered (&level.members, json_node_get_object (node));
      g_array_append_val (levels, level);
      break;
    case JSON_NODE_ARRAY:
      g_string_append_c (out, '[');
      level.array = json_node_get_array (node);
      g_array_append_val (levels, level);
      break;
    case JSON_NODE_VALUE:
      write_value (out, node);
      break;
    case JSON_NODE_NULL:
    default:
      g_string_append (out, "null");
      break;
    }
}

/* The next child of level, with its comma and name written; NULL at the end. */
static JsonNode *
write_next (GString *out, Level *level)
{
  JsonNode *child = NULL;
  const char *name = NULL;

  if (level->array != NULL && level->next < json_array_get_length (level->array))
    child = json_array_get_element (level->array, level->next++);
  else if (level->array == NULL && !json_object_iter_next_ordered (&level->members, &name, &child))
    child = NULL;
  if (child == NULL)
    return NULL;
  if (level->started)
    g_string_append_c (out, ',');
  level->started = TRUE;
  if (name != NULL)
    {
      sbx_json_write_text (out, name, -1);
      g_string_append_c (out, ':');
    }
  return child;
}

void
sbx_json_write_node (GString *out, JsonNode *node)
{
  g_autoptr (GArray) levels = g_array_new (FALSE, FALSE, sizeof (Level));

  write_begin (out, levels, node);
  while (levels->len > 0)
    {
      Level *level = &g_array_index (levels, Level, levels->len - 1);
      JsonNode *child = write_next (out, level);

      if (child != NULL)
        write_begin (out, levels, child);
      else
        {
          g_string_append_c (out, level->array != NULL ? ']' : '}');
          g_array_set_size (levels, levels->len - 1);
        }
    }
}

GBytes *
sbx_json_write_bytes (JsonNode *node)
{
  GString *out = g_string_new (NULL);

  sbx_json_write_node (out, node);
  return g_string_free_to_bytes (out);
}
