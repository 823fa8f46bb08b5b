/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/span.h"

#define SEC ((guint64) G_USEC_PER_SEC)

static void
test_spans (void)
{
  static const struct {
    const char *text;
    gboolean fine;
    guint64 usec;
  } cases[] = {
    { "90", TRUE, 90 * SEC },
    { "90s", TRUE, 90 * SEC },
    { "1min 30s", TRUE, 90 * SEC },
    { "1min30s", TRUE, 90 * SEC },
    { " 2 h ", TRUE, 7200 * SEC },
    { "1.5s", TRUE, 1500000 },
    { "0.000001", TRUE, 1 },
    { "0.0000019s", TRUE, 1 },
    { "250ms", TRUE, 250000 },
    { "5us", TRUE, 5 },
    { "1d", TRUE, 86400 * SEC },
    { "2weeks", TRUE, 1209600 * SEC },
    { "0", TRUE, 0 },
    { "", FALSE, 0 },
    { " ", FALSE, 0 },
    { "s", FALSE, 0 },
    { "-1s", FALSE, 0 },
    { "+1s", FALSE, 0 },
    { "1 2 x", FALSE, 0 },
    { "1S", FALSE, 0 },
    { "1.s", FALSE, 0 },
    { ".5s", FALSE, 0 },
    { "1e3", FALSE, 0 },
    { "0x10", FALSE, 0 },
    { "1month", FALSE, 0 },
    { "infinity", FALSE, 0 },
    { "99999999999999999999", FALSE, 0 },
    { "18446744073709551615w", FALSE, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint64 usec = 42;

      g_test_message ("%s", cases[i].text);
      g_assert_cmpint (sbx_span_parse (cases[i].text, &usec), ==, cases[i].fine);
      g_assert_cmpuint (usec, ==, cases[i].fine ? cases[i].usec : 42);
    }
}

static void
test_sizes (void)
{
  static const struct {
    const char *text;
    gboolean fine;
    guint64 bytes;
  } cases[] = {
    { "65536", TRUE, 65536 },
    { "512M", TRUE, 512ull << 20 },
    { "512MB", TRUE, 512ull << 20 },
    { "1GiB", TRUE, 1ull << 30 },
    { "1.5K", TRUE, 1536 },
    { "2T", TRUE, 2ull << 40 },
    { "0", TRUE, 0 },
    { "10B", TRUE, 10 },
    { "", FALSE, 0 },
    { "M", FALSE, 0 },
    { "1m", FALSE, 0 },
    { "1M 1K", FALSE, 0 },
    { "-1M", FALSE, 0 },
    { "1P", FALSE, 0 },
    { "20000000T", FALSE, 0 },
    { "50%", FALSE, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint64 bytes = 42;

      g_test_message ("%s", cases[i].text);
      g_assert_cmpint (sbx_size_parse (cases[i].text, &bytes), ==, cases[i].fine);
      g_assert_cmpuint (bytes, ==, cases[i].fine ? cases[i].bytes : 42);
    }
}

static void
test_rates (void)
{
  static const char *const wrong[] = { "",     "10",     "/1min",     "10/",  "0/1min",
                                       "10/0", "x/1min", "10/1min/2", "-1/1s" };
  guint64 number = 1, usec = 1;

  g_assert_true (sbx_rate_parse ("10/1min", &number, &usec));
  g_assert_cmpuint (number, ==, 10);
  g_assert_cmpuint (usec, ==, 60 * SEC);
  g_assert_true (sbx_rate_parse ("off", &number, &usec));
  g_assert_cmpuint (number + usec, ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (sbx_rate_parse (wrong[i], &number, &usec));
}

static void
test_words (void)
{
  gboolean value = FALSE;

  g_assert_true (sbx_boolean_parse ("YES", &value) && value);
  g_assert_true (sbx_boolean_parse ("off", &value) && !value);
  g_assert_false (sbx_boolean_parse ("maybe", &value));
  g_assert_false (sbx_boolean_parse ("", &value));
  g_assert_cmpuint (sbx_edit_distance ("Image", "Image"), ==, 0);
  g_assert_cmpuint (sbx_edit_distance ("Imge", "Image"), ==, 1);
  g_assert_cmpuint (sbx_edit_distance ("", "abc"), ==, 3);
  g_assert_cmpuint (sbx_edit_distance ("kitten", "sitting"), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/config/span/spans", test_spans);
  g_test_add_func ("/config/span/sizes", test_sizes);
  g_test_add_func ("/config/span/rates", test_rates);
  g_test_add_func ("/config/span/words", test_words);
  return g_test_run ();
}
