/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-variant.h"

#include <string.h>

#include "base/json-scan.h"
#include "base/json-write.h"

/* --- reading --- */

/* An open object or list. A variant cannot grow, so its parts are kept until it closes. */
typedef struct {
  GPtrArray *names;  /* of an object's members; NULL for a list */
  GPtrArray *values; /* with a reference each */
  guint place;       /* of the value that comes next, where values has one there already */
} Level;

typedef struct {
  GVariant *root;
  Level levels[SBX_JSON_MAX_DEPTH];
  guint depth;
} Tree;

static void
level_clear (Level *self)
{
  g_clear_pointer (&self->names, g_ptr_array_unref);
  g_clear_pointer (&self->values, g_ptr_array_unref);
}

static void
tree_clear (Tree *self)
{
  while (self->depth > 0)
    level_clear (&self->levels[--self->depth]);
  g_clear_pointer (&self->root, g_variant_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tree, tree_clear)

static void
unref_value (gpointer data)
{
  g_variant_unref (data);
}

/* The scanner bounds the depth. */
static void
tree_open (Tree *self, gboolean is_object)
{
  self->levels[self->depth++] = (Level){
    .names = is_object ? g_ptr_array_new_with_free_func (g_free) : NULL,
    .values = g_ptr_array_new_with_free_func (unref_value),
  };
}

/* One by one, and not hashed: the scanner bounds the members, and with them what names that begin alike cost.
 */
static void
tree_name (Tree *self, const GString *name)
{
  Level *level = &self->levels[self->depth - 1];

  for (level->place = 0; level->place < level->names->len; level->place++)
    if (g_str_equal (level->names->pdata[level->place], name->str))
      return;
  g_ptr_array_add (level->names, g_strndup (name->str, name->len));
}

/* Takes value, floating or not. */
static void
tree_add (Tree *self, GVariant *value)
{
  Level *level = self->depth > 0 ? &self->levels[self->depth - 1] : NULL;

  g_variant_take_ref (value);
  if (level == NULL)
    {
      self->root = value;
    }
  else if (level->names != NULL && level->place < level->values->len)
    {
      g_variant_unref (level->values->pdata[level->place]);
      level->values->pdata[level->place] = value;
    }
  else
    {
      g_ptr_array_add (level->values, value);
    }
}

/* Takes text. The scanner has seen that it is UTF-8, which g_variant_new_take_string() would find out again,
 * and slowly. */
static GVariant *
take_text (char *text)
{
  return g_variant_new_from_data (G_VARIANT_TYPE_STRING, text, strlen (text) + 1, TRUE, g_free, text);
}

/* Takes the names, and leaves NULLs. */
static GVariant *
new_object (GPtrArray *names, GPtrArray *values)
{
  g_autofree GVariant **entries = g_new (GVariant *, values->len);

  for (guint i = 0; i < values->len; i++)
    entries[i] = g_variant_new_dict_entry (take_text (g_steal_pointer (&names->pdata[i])),
                                           g_variant_new_variant (values->pdata[i]));
  return g_variant_new_array (G_VARIANT_TYPE ("{sv}"), entries, values->len);
}

static GVariant *
new_list (GPtrArray *values)
{
  g_autofree GVariant **elements = g_new (GVariant *, values->len);

  for (guint i = 0; i < values->len; i++)
    elements[i] = g_variant_new_variant (values->pdata[i]);
  return g_variant_new_array (G_VARIANT_TYPE_VARIANT, elements, values->len);
}

static void
tree_close (Tree *self)
{
  Level *level = &self->levels[--self->depth];
  GVariant *value =
    level->names != NULL ? new_object (level->names, level->values) : new_list (level->values);

  level_clear (level);
  tree_add (self, value);
}

/* Puts one event into the tree. */
static void
tree_take (Tree *self, const SbxJsonScan *scan, SbxJsonEvent event)
{
  switch (event)
    {
    case SBX_JSON_EVENT_OBJECT:
    case SBX_JSON_EVENT_ARRAY:
      tree_open (self, event == SBX_JSON_EVENT_OBJECT);
      break;
    case SBX_JSON_EVENT_CLOSE:
      tree_close (self);
      break;
    case SBX_JSON_EVENT_NAME:
      tree_name (self, scan->text);
      break;
    case SBX_JSON_EVENT_TEXT:
      tree_add (self, take_text (g_strndup (scan->text->str, scan->text->len)));
      break;
    case SBX_JSON_EVENT_INTEGER:
      tree_add (self, g_variant_new_int64 (scan->integer));
      break;
    case SBX_JSON_EVENT_DOUBLE:
      tree_add (self, g_variant_new_double (scan->number));
      break;
    case SBX_JSON_EVENT_TRUE:
    case SBX_JSON_EVENT_FALSE:
      tree_add (self, g_variant_new_boolean (event == SBX_JSON_EVENT_TRUE));
      break;
    case SBX_JSON_EVENT_NULL:
      tree_add (self, g_variant_new_tuple (NULL, 0));
      break;
    case SBX_JSON_EVENT_ERROR:
    case SBX_JSON_EVENT_END:
    default:
      break;
    }
}

GVariant *
sbx_json_variant_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error)
{
  g_auto (Tree) tree = { .root = NULL };
  SbxJsonScan scan;
  SbxJsonEvent event;

  if (!sbx_json_scan_init (&scan, data, n_bytes, max_bytes, error))
    return NULL;
  scan.repeats_allowed = TRUE;
  do
    {
      event = sbx_json_scan_next (&scan, error);
      tree_take (&tree, &scan, event);
    }
  while (event != SBX_JSON_EVENT_ERROR && event != SBX_JSON_EVENT_END);
  sbx_json_scan_clear (&scan);
  return event == SBX_JSON_EVENT_END ? g_steal_pointer (&tree.root) : NULL;
}

/* --- writing --- */

static void
write_object (GString *out, GVariant *object)
{
  g_string_append_c (out, '{');
  for (gsize i = 0; i < g_variant_n_children (object); i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (object, i);
      g_autoptr (GVariant) name = g_variant_get_child_value (entry, 0);
      g_autoptr (GVariant) boxed = g_variant_get_child_value (entry, 1);
      g_autoptr (GVariant) value = g_variant_get_variant (boxed);

      if (i > 0)
        g_string_append_c (out, ',');
      sbx_json_write_text (out, g_variant_get_string (name, NULL), -1);
      g_string_append_c (out, ':');
      sbx_json_variant_write (out, value);
    }
  g_string_append_c (out, '}');
}

static void
write_list (GString *out, GVariant *list)
{
  g_string_append_c (out, '[');
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
      g_autoptr (GVariant) value = g_variant_get_variant (boxed);

      if (i > 0)
        g_string_append_c (out, ',');
      sbx_json_variant_write (out, value);
    }
  g_string_append_c (out, ']');
}

void
sbx_json_variant_write (GString *out, GVariant *value)
{
  g_return_if_fail (out != NULL && value != NULL);

  if (g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT))
    write_object (out, value);
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE ("av")))
    write_list (out, value);
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    sbx_json_write_text (out, g_variant_get_string (value, NULL), -1);
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    g_string_append (out, g_variant_get_boolean (value) ? "true" : "false");
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_INT64))
    g_string_append_printf (out, "%" G_GINT64_FORMAT, g_variant_get_int64 (value));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_DOUBLE))
    sbx_json_write_double (out, g_variant_get_double (value));
  else
    g_string_append (out, "null");
}
