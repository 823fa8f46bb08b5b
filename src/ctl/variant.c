/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/variant.h"

#include <errno.h>

#include "base/json-member.h"

/* Deeper than anything that the service sends. */
#define MAX_DEPTH 8u

static int read_value (sd_bus_message *message, JsonBuilder *builder, guint depth);

static int
read_basic (sd_bus_message *message, JsonBuilder *builder, char type)
{
  union {
    guint8 y;
    int b;
    gint16 n;
    guint16 q;
    gint32 i;
    guint32 u;
    gint64 x;
    guint64 t;
    double d;
    const char *s;
  } value = { .t = 0 };
  int r = sd_bus_message_read_basic (message, type, &value);

  if (r < 0)
    return r;
  switch (type)
    {
    case 'b':
      json_builder_add_boolean_value (builder, value.b);
      return 0;
    case 'd':
      json_builder_add_double_value (builder, value.d);
      return 0;
    case 'y':
      json_builder_add_int_value (builder, value.y);
      return 0;
    case 'n':
      json_builder_add_int_value (builder, value.n);
      return 0;
    case 'q':
      json_builder_add_int_value (builder, value.q);
      return 0;
    case 'i':
      json_builder_add_int_value (builder, value.i);
      return 0;
    case 'u':
      json_builder_add_int_value (builder, value.u);
      return 0;
    case 'x':
      json_builder_add_int_value (builder, value.x);
      return 0;
    case 't':
      json_builder_add_int_value (builder, (gint64) MIN (value.t, (guint64) G_MAXINT64));
      return 0;
    case 's':
    case 'o':
    case 'g':
      json_builder_add_string_value (builder, value.s);
      return 0;
    default:
      return -EBADMSG;
    }
}

/* In a container already. dictionary: its elements are entries with a text as name. */
static int
read_elements (sd_bus_message *message, JsonBuilder *builder, const char *entry, guint depth)
{
  int r;

  while ((r = sd_bus_message_at_end (message, FALSE)) == 0)
    {
      const char *name = NULL;

      if (entry != NULL)
        {
          r = sd_bus_message_enter_container (message, 'e', entry);
          if (r >= 0)
            r = sd_bus_message_read_basic (message, 's', &name);
          if (r < 0)
            return r;
          json_builder_set_member_name (builder, name);
        }
      r = read_value (message, builder, depth + 1);
      if (r >= 0 && entry != NULL)
        r = sd_bus_message_exit_container (message);
      if (r < 0)
        return r;
    }
  return r;
}

static int
read_container (sd_bus_message *message, JsonBuilder *builder, char type, const char *contents, guint depth)
{
  g_autofree char *own_contents = g_strdup (contents);
  gboolean dictionary = type == 'a' && g_str_has_prefix (own_contents, "{s");
  g_autofree char *entry = dictionary ? g_strndup (own_contents + 1, strlen (own_contents) - 2) : NULL;
  int r = sd_bus_message_enter_container (message, type, own_contents);

  if (r < 0)
    return r;
  if (type == 'v')
    r = read_value (message, builder, depth + 1);
  else if (dictionary)
    {
      json_builder_begin_object (builder);
      r = read_elements (message, builder, entry, depth);
      json_builder_end_object (builder);
    }
  else
    {
      json_builder_begin_array (builder);
      r = read_elements (message, builder, NULL, depth);
      json_builder_end_array (builder);
    }
  return r < 0 ? r : sd_bus_message_exit_container (message);
}

static int
read_value (sd_bus_message *message, JsonBuilder *builder, guint depth)
{
  const char *contents = NULL;
  char type = 0;
  int r = sd_bus_message_peek_type (message, &type, &contents);

  if (r <= 0)
    return r < 0 ? r : -EBADMSG;
  if (depth > MAX_DEPTH)
    return -EBADMSG;
  return contents != NULL ? read_container (message, builder, type, contents, depth)
                          : read_basic (message, builder, type);
}

int
sbx_variant_to_json (sd_bus_message *message, JsonNode **ret)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  JsonNode *root;
  int r = read_value (message, builder, 0);

  if (r < 0)
    return r;
  root = json_builder_get_root (builder);
  if (root == NULL)
    return -EBADMSG;
  *ret = root;
  return 0;
}

/* A person reads a list of texts as lines below each other, width columns in. */
static char *
describe_value (JsonNode *node, int width)
{
  JsonArray *array = sbx_json_node_list (node);
  gboolean yes = FALSE;
  GString *text;

  if (sbx_json_node_text (node) != NULL)
    return g_strdup (sbx_json_node_text (node));
  if (sbx_json_node_boolean (node, &yes))
    return g_strdup (yes ? "yes" : "no");
  if (array == NULL)
    return json_to_string (node, FALSE);

  text = g_string_new (json_array_get_length (array) == 0 ? "none" : NULL);
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      g_autofree char *element = describe_value (json_array_get_element (array, i), width);

      if (i > 0)
        g_string_append_printf (text, "\n%*s", width + 2, "");
      g_string_append (text, element);
    }
  return g_string_free (text, FALSE);
}

char *
sbx_variant_describe (JsonObject *object)
{
  g_autoptr (GList) names = g_list_sort (json_object_get_members (object), (GCompareFunc) g_strcmp0);
  GString *text = g_string_new (NULL);
  int width = 0;

  for (GList *item = names; item != NULL; item = item->next)
    width = MAX (width, (int) g_utf8_strlen (item->data, -1));
  for (GList *item = names; item != NULL; item = item->next)
    {
      JsonNode *node = json_object_get_member (object, item->data);
      g_autofree char *value = describe_value (node, width);

      g_string_append_printf (text, "%*s: %s\n", width, (const char *) item->data, value);
    }
  return g_string_free (text, FALSE);
}
