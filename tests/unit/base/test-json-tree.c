/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-tree.h"

#include <math.h>
#include <string.h>

#include "base/json-gate.h"

#define MAX_BYTES (4u * 1024u * 1024u)

static void
test_read_values (void)
{
  const char *text = "{\"i\":-9223372036854775808,\"u\":18446744073709551615,\"d\":0.1,\"e\":1e3,\"z\":-0,"
                     "\"t\":true,\"f\":false,\"n\":null,\"s\":\"\\u00e9\\ud83d\\ude00\\n\",\"l\":[1,[2],{}]}";
  g_autoptr (JsonNode) root = sbx_json_read (text, strlen (text), MAX_BYTES, NULL);
  JsonObject *object;
  JsonArray *list;

  g_assert_nonnull (root);
  object = json_node_get_object (root);
  g_assert_cmpint (json_object_get_int_member (object, "i"), ==, G_MININT64);
  g_assert_cmpfloat (json_object_get_double_member (object, "u"), ==, 18446744073709551615.0);
  g_assert_cmpfloat (json_object_get_double_member (object, "d"), ==, 0.1);
  g_assert_cmpfloat (json_object_get_double_member (object, "e"), ==, 1000.0);
  g_assert_true (json_node_get_value_type (json_object_get_member (object, "z")) == G_TYPE_DOUBLE);
  g_assert_true (json_object_get_boolean_member (object, "t"));
  g_assert_false (json_object_get_boolean_member (object, "f"));
  g_assert_true (json_object_get_null_member (object, "n"));
  g_assert_cmpstr (json_object_get_string_member (object, "s"), ==, "\xc3\xa9\xf0\x9f\x98\x80\n");
  list = json_object_get_array_member (object, "l");
  g_assert_cmpuint (json_array_get_length (list), ==, 3);
  g_assert_cmpint (json_array_get_int_element (json_array_get_array_element (list, 1), 0), ==, 2);
}

static void
test_read_texts (void)
{
  static const struct {
    const char *text;
    const char *value;
  } cases[] = {
    { "\"a\\u0000b\"", "a" SBX_JSON_NUL "b" }, /* kept whole, never a cut */
    { "\"\xef\xb7\x90\"", "\xef\xbf\xbd" },    /* nobody can bring the stand-in along */
    { "\"x\xef\xb7\x90y\xef\xb7\x90\"", "x\xef\xbf\xbdy\xef\xbf\xbd" },
    { "\"\\ufdd0\"", "\xef\xbf\xbd" },
    { "\"\xef\xb7\x91\"", "\xef\xb7\x91" },
    { "\"a\\ud800b\"", "a\xef\xbf\xbd"
                       "b" },
    { "\"\\udc00\"", "\xef\xbf\xbd" },
    { "\"\\ud800\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
    { "\"\\ud800\\u0041\"", "\xef\xbf\xbd"
                            "A" },
    { "\"\\/\\\"\\\\\"", "/\"\\" },
    { "\"\"", "" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (JsonNode) root = sbx_json_read (cases[i].text, strlen (cases[i].text), MAX_BYTES, NULL);

      g_assert_nonnull (root);
      g_assert_cmpstr (json_node_get_string (root), ==, cases[i].value);
    }
}

static void
test_read_last_counts (void)
{
  const char *text = "{\"a\":{\"x\":1,\"x\":[2]},\"b\":1,\"a\":{\"y\":{}},\"a\":\"last\"}";
  g_autoptr (JsonNode) root = sbx_json_read_last_counts (text, strlen (text), MAX_BYTES, NULL);
  g_autoptr (JsonNode) broken = sbx_json_read_last_counts ("{\"a\":1,\"a\":}", 13, MAX_BYTES, NULL);

  g_assert_nonnull (root);
  g_assert_cmpuint (json_object_get_size (json_node_get_object (root)), ==, 2);
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (root), "a"), ==, "last");
  g_assert_null (broken);
}

/* Members keep their order: what goes on reads as it came. */
static void
test_read_order (void)
{
  const char *text = "{\"z\":1,\"a\":2,\"m\":3}";
  g_autoptr (JsonNode) root = sbx_json_read (text, strlen (text), MAX_BYTES, NULL);
  g_autoptr (GList) members = json_object_get_members (json_node_get_object (root));

  g_assert_cmpstr (members->data, ==, "z");
  g_assert_cmpstr (members->next->data, ==, "a");
  g_assert_cmpstr (members->next->next->data, ==, "m");
}

/* What is read and written again: compact, in order, equal. */
static void
test_again (void)
{
  static const struct {
    const char *text;
    const char *again;
  } cases[] = {
    { "[]", "[]" },
    { "{}", "{}" },
    { "null", "null" },
    { " { \"b\" : [ 1 , -2.5, true ,false,null,\"x\" ] , \"a\" : { } } ",
      "{\"b\":[1,-2.5,true,false,null,\"x\"],\"a\":{}}" },
    { "[9223372036854775807,-9223372036854775808]", "[9223372036854775807,-9223372036854775808]" },
    { "[18446744073709551615]", "[18446744073709552000]" },
    { "[1E-7,1e3,-0,-0.0]", "[1e-7,1000,0,0]" },
    { "{\"\\u0000\":\"\\u0000\"}", "{\"\\u0000\":\"\\u0000\"}" },
    { "[[[[[]]]],[{\"\":[{}]}]]", "[[[[[]]]],[{\"\":[{}]}]]" },
    { "\"\\u0041\\/\\u00e9\"", "\"A/\xc3\xa9\"" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (JsonNode) node = sbx_json_read (cases[i].text, strlen (cases[i].text), MAX_BYTES, NULL);
      g_autoptr (GBytes) out = sbx_json_write_bytes (node);

      g_assert_cmpmem (g_bytes_get_data (out, NULL), g_bytes_get_size (out), cases[i].again,
                       strlen (cases[i].again));
    }
}

/* The writer has no depth of its own: sandboxd and the broker put gated trees into others. */
static void
test_deep (void)
{
  g_autoptr (JsonNode) root = json_node_init_null (json_node_alloc ());
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < 1000; i++)
    {
      JsonNode *outer = json_node_new (JSON_NODE_ARRAY);

      json_node_take_array (outer, json_array_new ());
      json_array_add_element (json_node_get_array (outer), g_steal_pointer (&root));
      root = outer;
    }
  sbx_json_write_node (out, root);
  g_assert_cmpuint (out->len, ==, 2004);
}

/* --- random trees --- */

static char *
random_text (GRand *random)
{
  static const gunichar odd[] = { 0x1,   0x1f,   '"',    '\\',   '/',    0x7f,   0x80,    0xe9,
                                  0x7ff, 0x2028, 0xd7ff, 0xe000, 0xfdd0, 0xfffe, 0x10000, 0x10ffff };
  GString *text = g_string_new (NULL);
  int length = g_rand_int_range (random, 0, 9);

  for (int i = 0; i < length; i++)
    {
      if (g_rand_boolean (random))
        g_string_append_unichar (text, odd[g_rand_int_range (random, 0, G_N_ELEMENTS (odd))]);
      else
        g_string_append_c (text, (char) g_rand_int_range (random, 1, 0x80));
    }
  return g_string_free (text, FALSE);
}

static double
random_double (GRand *random)
{
  guint64 bits = (guint64) g_rand_int (random) << 32 | g_rand_int (random);
  double number;

  memcpy (&number, &bits, sizeof number);
  return isfinite (number) ? number : g_rand_double (random);
}

static JsonNode *
random_leaf (GRand *random)
{
  g_autofree char *text = NULL;

  switch (g_rand_int_range (random, 0, 6))
    {
    case 0:
      return json_node_init_null (json_node_alloc ());
    case 1:
      return json_node_init_boolean (json_node_alloc (), g_rand_boolean (random));
    case 2:
      return json_node_init_int (json_node_alloc (),
                                 (gint64) ((guint64) g_rand_int (random) << 32 | g_rand_int (random)));
    case 3:
      return json_node_init_int (json_node_alloc (), g_rand_int_range (random, -1000, 1000));
    case 4:
      return json_node_init_double (json_node_alloc (), random_double (random));
    default:
      text = random_text (random);
      return json_node_init_string (json_node_alloc (), text);
    }
}

/* Grown step by step: each new node goes to a random open one. */
static JsonNode *
random_tree (GRand *random)
{
  g_autoptr (GPtrArray) open = g_ptr_array_new ();
  JsonNode *root = json_node_new (JSON_NODE_ARRAY);
  int count = g_rand_int_range (random, 0, 40);

  json_node_take_array (root, json_array_new ());
  g_ptr_array_add (open, root);
  for (int i = 0; i < count; i++)
    {
      JsonNode *parent = g_ptr_array_index (open, g_rand_int_range (random, 0, (gint32) open->len));
      JsonNode *node = NULL;
      int kind = open->len < 20 ? g_rand_int_range (random, 0, 4) : 2;

      if (kind == 0)
        {
          node = json_node_new (JSON_NODE_ARRAY);
          json_node_take_array (node, json_array_new ());
        }
      else if (kind == 1)
        {
          node = json_node_new (JSON_NODE_OBJECT);
          json_node_take_object (node, json_object_new ());
        }
      else
        node = random_leaf (random);
      if (JSON_NODE_HOLDS_ARRAY (parent))
        json_array_add_element (json_node_get_array (parent), node);
      else
        {
          /* Its own number in front: to replace a member would free a node that is still open. */
          g_autofree char *text = random_text (random);
          g_autofree char *name = g_strdup_printf ("%d%s", i, text);

          json_object_set_member (json_node_get_object (parent), name, node);
        }
      if (kind < 2)
        g_ptr_array_add (open, node);
    }
  return root;
}

/* Everything that is written passes the gate, and reads as a tree that is written the same. */
static void
test_random (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);

  for (guint i = 0; i < 10000; i++)
    {
      g_autoptr (JsonNode) tree = random_tree (random);
      g_autoptr (GBytes) first = sbx_json_write_bytes (tree);
      g_autoptr (GError) error = NULL;
      gsize n_bytes;
      const char *data = g_bytes_get_data (first, &n_bytes);
      g_autoptr (JsonNode) read = sbx_json_read (data, n_bytes, MAX_BYTES, &error);
      g_autoptr (GBytes) second = NULL;

      g_assert_no_error (error);
      second = sbx_json_write_bytes (read);
      g_assert_cmpmem (g_bytes_get_data (second, NULL), g_bytes_get_size (second), data, n_bytes);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-tree/read-values", test_read_values);
  g_test_add_func ("/json-tree/read-texts", test_read_texts);
  g_test_add_func ("/json-tree/read-last-counts", test_read_last_counts);
  g_test_add_func ("/json-tree/read-order", test_read_order);
  g_test_add_func ("/json-tree/again", test_again);
  g_test_add_func ("/json-tree/deep", test_deep);
  g_test_add_func ("/json-tree/random", test_random);
  return g_test_run ();
}
