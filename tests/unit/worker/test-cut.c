/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>

#include "base/json-write.h"
#include "cut.h"

static void
test_keeps_what_fits (void)
{
  g_autofree char *text = g_strnfill (4094, 'a');
  g_autofree char *kept = sbx_text_cut (text, 4096);

  g_assert_cmpstr (kept, ==, text);
}

/* Every piece of a text that has characters of each cost: cut to each budget, the rule holds. */
static void
test_is_the_longest_beginning (void)
{
  static const char *const pieces[] = {
    "a", "\"", "\\", "\n", "\x01", "\x7f", "é", "丁", "😀", "\xef\xb7\x90"
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261129);
  gsize marker_bytes = sbx_json_text_bytes (SBX_CUT_MARKER, -1);

  for (guint i = 0; i < 10000; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      gsize budget = marker_bytes + (gsize) g_rand_int_range (rand, 0, 60);
      g_autofree char *cut = NULL;

      for (int n = g_rand_int_range (rand, 0, 200); n > 0; n--)
        g_string_append (text, pieces[g_rand_int_range (rand, 0, G_N_ELEMENTS (pieces))]);
      cut = sbx_text_cut (text->str, budget);
      g_assert_true (g_utf8_validate (cut, -1, NULL));
      g_assert_cmpuint (sbx_json_text_bytes (cut, -1), <=, budget);
      if (sbx_json_text_bytes (text->str, -1) <= budget)
        {
          g_assert_cmpstr (cut, ==, text->str);
        }
      else
        {
          gsize kept = strlen (cut) - strlen (SBX_CUT_MARKER);
          g_autofree char *longer = NULL;

          g_assert_true (g_str_has_suffix (cut, SBX_CUT_MARKER));
          g_assert_cmpint (strncmp (cut, text->str, kept), ==, 0);
          longer = g_strdup_printf ("%.*s" SBX_CUT_MARKER,
                                    (int) (g_utf8_next_char (text->str + kept) - text->str), text->str);
          g_assert_cmpuint (sbx_json_text_bytes (longer, -1), >, budget);
        }
    }
}

static void
test_trims_unicode_blanks (void)
{
  static const struct {
    const char *text;
    const char *trimmed;
  } cases[] = {
    { "", "" },
    { " \t\v\f\r\n", "" },
    { "\xc2\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff", "" },
    { " a b ", "a b" },
    { "\xe2\x80\x8b"
      "a\xe2\x80\x8b",
      "\xe2\x80\x8b"
      "a\xe2\x80\x8b" }, /* zero width space is no blank */
    { "\xc2\x85"
      "a",
      "\xc2\x85"
      "a" },
    { "\u3000😀\ufeff", "😀" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *trimmed = sbx_text_trim (cases[i].text);

      g_assert_cmpstr (trimmed, ==, cases[i].trimmed);
      g_assert_true (sbx_text_is_blank (cases[i].text) == (*cases[i].trimmed == '\0'));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/cut/keeps", test_keeps_what_fits);
  g_test_add_func ("/worker/cut/longest", test_is_the_longest_beginning);
  g_test_add_func ("/worker/cut/trim", test_trims_unicode_blanks);
  return g_test_run ();
}
