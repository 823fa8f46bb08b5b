/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/text.h"

#include "base/utf16.h"

static void
test_utf16_units (void)
{
  static const struct {
    const char *text;
    gsize units;
  } cases[] = {
    { "", 0 },
    { "abc", 3 },
    { "\xc3\xa9", 1 },
    { "\xe4\xb8\x81", 1 },
    { "\xf0\x9f\x98\x80", 2 },
    { "a\xf0\x9f\x98\x80\xc3\xa9", 4 },
    { "\xf4\x8f\xbf\xbf", 2 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpuint (sbx_utf16_units (cases[i].text), ==, cases[i].units);
}

static void
test_plain (void)
{
  static const struct {
    const char *text;
    const char *plain;
    const char *line;
  } cases[] = {
    { "", "", "" },
    { "a\tb\nc", "a\tb\nc", "a b c" },
    { "\x1b[31mred\x7f", "\x1b[31mred\x7f", " [31mred " },
    { "\xc2\x85", "\xc2\x85", " " }, /* a C1 control */
    { "\xef\xb7\x90", "\xef\xbf\xbd", "\xef\xbf\xbd" },
    { "\xef\xb7\xaf", "\xef\xbf\xbd", "\xef\xbf\xbd" },
    { "\xef\xb7\xb0", "\xef\xb7\xb0", "\xef\xb7\xb0" },
    { "\xef\xbf\xbe\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd" },
    { "\xf0\x9f\xbf\xbe", "\xef\xbf\xbd", "\xef\xbf\xbd" },
    { "\xff"
      "a",
      "\xef\xbf\xbd"
      "a",
      "\xef\xbf\xbd"
      "a" },
    { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *plain = sbx_text_plain (cases[i].text);
      g_autofree char *line = sbx_text_one_line (cases[i].text);

      g_assert_cmpstr (plain, ==, cases[i].plain);
      g_assert_cmpstr (line, ==, cases[i].line);
    }
}

/* What a terminal would obey: escapes of one and two bytes, their C1 forms, a carriage return that
 * overwrites. */
static void
test_terminal (void)
{
  static const struct {
    const char *text;
    const char *shown;
  } cases[] = {
    { "", "" },
    { "a\tb\nc \xc3\xa9", "a\tb\nc \xc3\xa9" },
    { "\x1b]0;title\x07", "\xef\xbf\xbd]0;title\xef\xbf\xbd" },
    { "\xc2\x9b"
      "31m",
      "\xef\xbf\xbd"
      "31m" },
    { "safe\rrm", "safe\xef\xbf\xbdrm" },
    { "\x7f\b", "\xef\xbf\xbd\xef\xbf\xbd" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = sbx_text_terminal (cases[i].text);

      g_assert_cmpstr (shown, ==, cases[i].shown);
    }
}

/* Nothing that ends a quotation, hides, or turns the writing around; and no more than fits a line. */
static void
test_shown (void)
{
  g_autofree char *hostile = sbx_text_shown ("a\xe2\x80\x9d \"b\" \xe2\x80\xae"
                                             "c\x1b[2J\xe2\x80\x8b\xc2\xab\xc3\xa9");
  g_autofree char *long_text = g_strnfill (65, 'x');
  g_autofree char *cut = sbx_text_shown (long_text);
  g_autofree char *whole = sbx_text_shown (long_text + 1);

  g_assert_cmpstr (hostile, ==, "a? ?b? ?c?[2J??\xc3\xa9");
  g_assert_cmpstr (whole, ==, long_text + 1);
  g_assert_true (g_str_has_prefix (cut, long_text + 1));
  g_assert_cmpstr (cut + 64, ==, "\xe2\x80\xa6");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/utf16-units", test_utf16_units);
  g_test_add_func ("/text/plain", test_plain);
  g_test_add_func ("/text/terminal", test_terminal);
  g_test_add_func ("/text/shown", test_shown);
  return g_test_run ();
}
