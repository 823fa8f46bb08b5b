/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-write.h"

#include <math.h>
#include <string.h>

#include "base/json-gate.h"

#define MAX_BYTES (4u * 1024u * 1024u)

static void
test_texts (void)
{
  static const struct {
    const char *value;
    gssize n_bytes;
    const char *text;
  } cases[] = {
    { "", -1, "\"\"" },
    { "plain", -1, "\"plain\"" },
    { "plain", 2, "\"pl\"" },
    { "\"\\", -1, "\"\\\"\\\\\"" },
    { "\b\t\n\f\r", -1, "\"\\b\\t\\n\\f\\r\"" },
    { "\x01\x1f", -1, "\"\\u0001\\u001f\"" }, /* json-glib 1.6 writes U+001F raw */
    { "/\x7f\xe2\x80\xa8\xc3\xa9", -1, "\"/\x7f\xe2\x80\xa8\xc3\xa9\"" },
    { "\xf0\x9f\x98\x80", -1, "\"\xf0\x9f\x98\x80\"" },
    { SBX_JSON_NUL, -1, "\"\\u0000\"" },
    { "a" SBX_JSON_NUL "b" SBX_JSON_NUL, -1, "\"a\\u0000b\\u0000\"" },
    { "\xef\xb7\x91", -1, "\"\xef\xb7\x91\"" },
    { "a\xff"
      "b",
      -1,
      "\"a\xef\xbf\xbd"
      "b\"" },
    { "a\0b", 3,
      "\"a\xef\xbf\xbd"
      "b\"" },
    { "\xed\xa0\x80", -1, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      sbx_json_write_text (out, cases[i].value, cases[i].n_bytes);
      g_assert_cmpstr (out->str, ==, cases[i].text);
      g_assert_cmpuint (sbx_json_text_bytes (cases[i].value, cases[i].n_bytes), ==, strlen (cases[i].text));
    }
}

static void
test_numbers (void)
{
  static const struct {
    double number;
    const char *text;
  } cases[] = {
    { 0.0, "0" },
    { -0.0, "0" },
    { 0.1, "0.1" },
    { 1.5, "1.5" },
    { 1000.0, "1000" },
    { 1e-6, "0.000001" },
    { -1.25e-6, "-0.00000125" },
    { 1e-7, "1e-7" },
    { 1.5e-10, "1.5e-10" },
    { 0.1234567890123456, "0.1234567890123456" },
    { 123456.789, "123456.789" },
    { 1e20, "100000000000000000000" },
    { 123456789012345680000.0, "123456789012345680000" },
    { 1e21, "1e+21" },
    { -1.5e21, "-1.5e+21" },
    { 2.2250738585072014e-308, "2.2250738585072014e-308" },
    { 1e-320, "1e-320" },
    { 0.1 + 0.2, "0.30000000000000004" },
    { 1e22, "1e+22" },
    { 5e-324, "5e-324" },
    { 1.7976931348623157e308, "1.7976931348623157e+308" },
    { (double) INFINITY, "null" },
    { (double) NAN, "null" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (JsonNode) node = json_node_init_double (json_node_alloc (), cases[i].number);
      g_autoptr (GString) out = g_string_new (NULL);

      sbx_json_write_node (out, node);
      g_assert_cmpstr (out->str, ==, cases[i].text);
    }
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

/* Doubles read back as the very same. */
static void
test_random_doubles (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (2);

  for (guint i = 0; i < 10000; i++)
    {
      double number = random_double (random);
      g_autoptr (JsonNode) node = json_node_init_double (json_node_alloc (), number);
      g_autoptr (GString) out = g_string_new (NULL);

      sbx_json_write_node (out, node);
      g_assert_cmpfloat (g_ascii_strtod (out->str, NULL), ==, number);
      g_assert_true (sbx_json_gate (out->str, out->len, MAX_BYTES, NULL));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-write/texts", test_texts);
  g_test_add_func ("/json-write/numbers", test_numbers);
  g_test_add_func ("/json-write/again", test_again);
  g_test_add_func ("/json-write/deep", test_deep);
  g_test_add_func ("/json-write/random", test_random);
  g_test_add_func ("/json-write/random-doubles", test_random_doubles);
  return g_test_run ();
}
