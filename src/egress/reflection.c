/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/reflection.h"

#include <string.h>

#include "base/json-tree.h"
#include "wire/bounds.h"

#define N_STARTS 65536u

typedef struct {
  char *bytes;
  gsize n_bytes;
} Pattern;

struct _SbxReflection {
  GArray *patterns; /* of Pattern */
  /* For each pair of bytes, whether a pattern begins so. Most positions of an answer end here. */
  guint8 starts[N_STARTS];
};

static void
pattern_clear (gpointer data)
{
  Pattern *self = data;

  explicit_bzero (self->bytes, self->n_bytes);
  g_free (self->bytes);
}

SbxReflection *
sbx_reflection_new (void)
{
  SbxReflection *self = g_new0 (SbxReflection, 1);

  self->patterns = g_array_new (FALSE, FALSE, sizeof (Pattern));
  g_array_set_clear_func (self->patterns, pattern_clear);
  return self;
}

void
sbx_reflection_free (SbxReflection *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->patterns);
  explicit_bzero (self->starts, sizeof self->starts);
  g_free (self);
}

static guint
start_of (const char *bytes)
{
  return (guint) (guchar) bytes[0] << 8 | (guchar) bytes[1];
}

/* Takes bytes. */
static void
add_pattern (SbxReflection *self, char *bytes, gsize n_bytes)
{
  Pattern pattern = { .bytes = bytes, .n_bytes = n_bytes };

  self->starts[start_of (bytes)] = 1;
  g_array_append_val (self->patterns, pattern);
}

static char *
percent_form (const char *key, gsize n_bytes, gsize *ret_n_bytes)
{
  char *form = g_malloc (3 * n_bytes + 1);
  gsize n = 0;

  for (gsize i = 0; i < n_bytes; i++)
    if (g_ascii_isalnum (key[i]) || (key[i] != '\0' && strchr ("-_.!~*'()", key[i]) != NULL))
      form[n++] = key[i];
    else
      {
        static const char digits[] = "0123456789ABCDEF";

        form[n++] = '%';
        form[n++] = digits[(guchar) key[i] >> 4];
        form[n++] = digits[(guchar) key[i] & 15];
      }
  *ret_n_bytes = n;
  return form;
}

static char *
hex_form (const char *key, gsize n_bytes, const char *digits)
{
  char *form = g_malloc (2 * n_bytes + 1);

  for (gsize i = 0; i < n_bytes; i++)
    {
      form[2 * i] = digits[(guchar) key[i] >> 4];
      form[2 * i + 1] = digits[(guchar) key[i] & 15];
    }
  return form;
}

static char *
base64url_form (const char *base64, gsize *ret_n_bytes)
{
  char *form = g_strdup (base64);
  gsize n = strlen (form);

  while (n > 0 && form[n - 1] == '=')
    n--;
  for (gsize i = 0; i < n; i++)
    form[i] = form[i] == '+' ? '-' : form[i] == '/' ? '_' : form[i];
  *ret_n_bytes = n;
  return form;
}

void
sbx_reflection_add (SbxReflection *self, SbxSecret *key)
{
  gsize n_bytes = 0, n_form = 0;
  const char *bytes = sbx_secret_peek (key, &n_bytes);
  char *form;

  if (bytes == NULL || n_bytes < 2)
    return;
  add_pattern (self, g_memdup2 (bytes, n_bytes), n_bytes);
  form = percent_form (bytes, n_bytes, &n_form);
  add_pattern (self, form, n_form);
  form = g_base64_encode ((const guchar *) bytes, n_bytes);
  add_pattern (self, form, strlen (form));
  form = base64url_form (form, &n_form);
  add_pattern (self, form, n_form);
  add_pattern (self, hex_form (bytes, n_bytes, "0123456789abcdef"), 2 * n_bytes);
  add_pattern (self, hex_form (bytes, n_bytes, "0123456789ABCDEF"), 2 * n_bytes);
}

static gboolean
any_begins_at (const SbxReflection *self, const char *data, gsize n_bytes)
{
  for (guint i = 0; i < self->patterns->len; i++)
    {
      const Pattern *pattern = &g_array_index (self->patterns, Pattern, i);

      if (pattern->n_bytes <= n_bytes && memcmp (pattern->bytes, data, pattern->n_bytes) == 0)
        return TRUE;
    }
  return FALSE;
}

gboolean
sbx_reflection_finds (const SbxReflection *self, const char *data, gsize n_bytes)
{
  for (gsize i = 0; i + 1 < n_bytes; i++)
    if (self->starts[start_of (data + i)] != 0 && any_begins_at (self, data + i, n_bytes - i))
      return TRUE;
  return FALSE;
}

static gboolean
finds_in_object (const SbxReflection *self, JsonObject *object)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &value))
    if (sbx_reflection_finds (self, name, strlen (name)) || sbx_reflection_finds_in_node (self, value))
      return TRUE;
  return FALSE;
}

static gboolean
finds_in_array (const SbxReflection *self, JsonArray *array)
{
  guint length = json_array_get_length (array);

  for (guint i = 0; i < length; i++)
    if (sbx_reflection_finds_in_node (self, json_array_get_element (array, i)))
      return TRUE;
  return FALSE;
}

/* Recursion is bounded by the gate's depth. */
gboolean
sbx_reflection_finds_in_node (const SbxReflection *self, JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    return finds_in_object (self, json_node_get_object (node));
  if (JSON_NODE_HOLDS_ARRAY (node))
    return finds_in_array (self, json_node_get_array (node));
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return sbx_reflection_finds (self, json_node_get_string (node), strlen (json_node_get_string (node)));
  return FALSE;
}

gboolean
sbx_reflection_finds_in_text (const SbxReflection *self, const char *data, gsize n_bytes)
{
  g_autoptr (JsonNode) node = NULL;

  if (sbx_reflection_finds (self, data, n_bytes))
    return TRUE;
  /* A tool that prints JSON may write "\/" or "\u002b" where the key has "/" or "+": the model would read the
   * key. */
  node = memchr (data, '\\', n_bytes) != NULL
           ? sbx_json_read_last_counts (data, n_bytes, SBX_MAX_ANSWER_BYTES, NULL)
           : NULL;
  return node != NULL && sbx_reflection_finds_in_node (self, node);
}
