/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-variant.h"

#include <string.h>

#include "base/json-gate.h"
#include "base/json-tree.h"

#define MAX_BYTES (4u * 1024u * 1024u)

static GVariant *
read_fine (const char *text)
{
  g_autoptr (GError) error = NULL;
  GVariant *root = sbx_json_variant_read (text, strlen (text), MAX_BYTES, &error);

  g_assert_no_error (error);
  g_assert_nonnull (root);
  g_assert_false (g_variant_is_floating (root));
  return root;
}

static char *
write_variant (GVariant *value)
{
  g_autoptr (GString) out = g_string_new (NULL);

  sbx_json_variant_write (out, value);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* Each kind, in GVariant's own notation. */
static void
test_kinds (void)
{
  static const struct {
    const char *text;
    const char *printed;
  } cases[] = {
    { "null", "()" },
    { "true", "true" },
    { "false", "false" },
    { "\"a\\u00e9\\ud83d\\ude00\\n\"", "'a\xc3\xa9\xf0\x9f\x98\x80\\n'" },
    { "1", "int64 1" },
    { "9223372036854775807", "int64 9223372036854775807" },
    { "-9223372036854775808", "int64 -9223372036854775808" },
    { "9223372036854775808", "9.2233720368547758e+18" },
    { "-0", "-0.0" },
    { "0.5", "0.5" },
    { "1e3", "1000.0" },
    { "[]", "@av []" },
    { "{}", "@a{sv} {}" },
    { "[1,[2],{}]", "[<int64 1>, <[<int64 2>]>, <@a{sv} {}>]" },
    { "{\"z\":1,\"a\":{\"m\":null}}", "{'z': <int64 1>, 'a': <{'m': <()>}>}" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GVariant) root = read_fine (cases[i].text);
      g_autofree char *printed = g_variant_print (root, TRUE);

      g_assert_cmpstr (printed, ==, cases[i].printed);
    }
}

static void
test_nul (void)
{
  g_autoptr (GVariant) root = read_fine ("\"a\\u0000\xef\xb7\x90\"");

  g_assert_cmpstr (g_variant_get_string (root, NULL), ==, "a" SBX_JSON_NUL "\xef\xbf\xbd");
}

/* The last of two members of one name counts, in the place of the first. */
static void
test_last_counts (void)
{
  static const struct {
    const char *text;
    const char *again;
  } cases[] = {
    { "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}" },
    { "{\"a\":1,\"\\u0061\":{\"a\":2,\"a\":[]}}", "{\"a\":{\"a\":[]}}" },
    { "{\"a\":{\"b\":1},\"a\":{\"c\":2},\"d\":3,\"a\":null}", "{\"a\":null,\"d\":3}" },
    { "{\"\":1,\"\":\"x\"}", "{\"\":\"x\"}" },
    { "[{\"a\":1},{\"a\":2}]", "[{\"a\":1},{\"a\":2}]" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GVariant) root = read_fine (cases[i].text);
      g_autofree char *again = write_variant (root);

      g_assert_cmpstr (again, ==, cases[i].again);
    }
}

static void
test_lookup (void)
{
  g_autoptr (GVariant) root = read_fine ("{\"t\":\"x\",\"n\":null,\"l\":[1],\"t\":\"y\"}");
  g_autoptr (GVariant) list = g_variant_lookup_value (root, "l", G_VARIANT_TYPE ("av"));
  const char *text;

  g_assert_true (g_variant_lookup (root, "t", "&s", &text));
  g_assert_cmpstr (text, ==, "y");
  g_assert_false (g_variant_lookup (root, "n", "&s", &text));
  g_assert_false (g_variant_lookup (root, "l", "&s", &text));
  g_assert_cmpuint (g_variant_n_children (list), ==, 1);
}

/* The gate's rules but the one of repeats: the codes are those of test-json-gate.c. */
static void
test_refused (void)
{
  static const char *const cases[] = {
    "", "[", "{\"a\":1,\"a\":}", "{\"a\":{\"b\":[1,\"x\"", "[1,]", "{}x", "\"\xff\"", "[1e400]", "{\"a\":\"",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      /* Exactly as long, so that valgrind and ASan see what is read behind it. */
      g_autofree char *exact = g_memdup2 (cases[i], strlen (cases[i]));

      g_assert_null (sbx_json_variant_read (exact, strlen (cases[i]), MAX_BYTES, &error));
      g_assert_true (error != NULL && error->domain == SBX_JSON_ERROR);
    }
}

static char *
nested (const char *open, const char *inside, const char *close, guint depth)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < depth; i++)
    g_string_append (text, open);
  g_string_append (text, inside);
  for (guint i = 0; i < depth; i++)
    g_string_append (text, close);
  return g_string_free (text, FALSE);
}

/* A level of JSON is two of GVariant's or three, and GVariant has a limit of its own. */
static void
test_depth (void)
{
  g_autofree char *lists = nested ("[", "1", "]", SBX_JSON_MAX_DEPTH);
  g_autofree char *objects = nested ("{\"a\":", "\"x\"", "}", SBX_JSON_MAX_DEPTH);
  g_autofree char *deeper = nested ("[", "", "]", SBX_JSON_MAX_DEPTH + 1);
  g_autoptr (GVariant) of_lists = read_fine (lists);
  g_autoptr (GVariant) of_objects = read_fine (objects);
  g_autofree char *lists_again = write_variant (of_lists);
  g_autofree char *objects_again = write_variant (of_objects);
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (lists_again, ==, lists);
  g_assert_cmpstr (objects_again, ==, objects);
  g_assert_null (sbx_json_variant_read (deeper, strlen (deeper), MAX_BYTES, &error));
  g_assert_error (error, SBX_JSON_ERROR, SBX_JSON_ERROR_TOO_DEEP);
}

/* As many as an object may have, and again each of them. */
static void
test_many_members (void)
{
  g_autoptr (GString) text = g_string_new ("{");
  g_autoptr (GVariant) root = NULL;

  for (guint i = 0; i < SBX_JSON_MAX_MEMBERS; i++)
    g_string_append_printf (text, "%s\"m%u\":%u", i > 0 ? "," : "", i % (SBX_JSON_MAX_MEMBERS / 2), i);
  g_string_append_c (text, '}');
  root = read_fine (text->str);
  g_assert_cmpuint (g_variant_n_children (root), ==, SBX_JSON_MAX_MEMBERS / 2);
  for (guint i = 0; i < SBX_JSON_MAX_MEMBERS / 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("m%u", i);
      gint64 number;

      g_assert_true (g_variant_lookup (root, name, "x", &number));
      g_assert_cmpint (number, ==, SBX_JSON_MAX_MEMBERS / 2 + i);
    }
}

/* --- random texts --- */

static void
add_random (GString *text, GRand *random, guint depth)
{
  static const char *const leaves[] = { "null",
                                        "true",
                                        "false",
                                        "0",
                                        "-1",
                                        "\"\"",
                                        "1.5",
                                        "\"\\\"\"",
                                        "1e-7",
                                        "\"\\u0000\"",
                                        "\"\xef\xbf\xbe\"",
                                        "-0",
                                        "1e300",
                                        "\"a b\"",
                                        "12345678901234567890" };
  gint32 kind = depth < 6 ? g_rand_int_range (random, 0, 4) : 3;
  gint32 n = g_rand_int_range (random, 0, 5);

  if (kind >= 2)
    {
      g_string_append (text, leaves[g_rand_int_range (random, 0, G_N_ELEMENTS (leaves))]);
      return;
    }
  g_string_append_c (text, kind == 0 ? '[' : '{');
  for (gint32 i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append_c (text, ',');
      if (kind == 1)
        g_string_append_printf (text, "\"%d\":", g_rand_int_range (random, 0, 4));
      add_random (text, random, depth + 1);
    }
  g_string_append_c (text, kind == 0 ? ']' : '}');
}

/* Both kinds of tree say the same. */
static void
test_like_tree (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (3);

  for (guint i = 0; i < 5000; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (GString) wanted = g_string_new (NULL);
      g_autoptr (JsonNode) tree = NULL;
      g_autoptr (GVariant) variant = NULL;
      g_autofree char *given = NULL;

      add_random (text, random, 0);
      tree = sbx_json_read_last_counts (text->str, text->len, MAX_BYTES, NULL);
      sbx_json_write_node (wanted, tree);
      variant = read_fine (text->str);
      given = write_variant (variant);
      g_assert_cmpstr (given, ==, wanted->str);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-variant/kinds", test_kinds);
  g_test_add_func ("/json-variant/nul", test_nul);
  g_test_add_func ("/json-variant/last-counts", test_last_counts);
  g_test_add_func ("/json-variant/lookup", test_lookup);
  g_test_add_func ("/json-variant/refused", test_refused);
  g_test_add_func ("/json-variant/depth", test_depth);
  g_test_add_func ("/json-variant/many-members", test_many_members);
  g_test_add_func ("/json-variant/like-tree", test_like_tree);
  return g_test_run ();
}
