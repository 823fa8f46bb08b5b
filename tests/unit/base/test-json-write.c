/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-write.h"

#include <math.h>
#include <string.h>

#include "base/json-gate.h"

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
      g_autoptr (GString) out = g_string_new (NULL);

      sbx_json_write_double (out, cases[i].number);
      g_assert_cmpstr (out->str, ==, cases[i].text);
    }
}

static double
random_double (GRand *random)
{
  guint64 bits = (guint64) g_rand_int (random) << 32 | g_rand_int (random);
  double number;

  memcpy (&number, &bits, sizeof number);
  return isfinite (number) ? number : g_rand_double (random);
}

/* Doubles read back as the very same. */
static void
test_random_doubles (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (2);

  for (guint i = 0; i < 10000; i++)
    {
      double number = random_double (random);
      g_autoptr (GString) out = g_string_new (NULL);

      sbx_json_write_double (out, number);
      g_assert_cmpfloat (g_ascii_strtod (out->str, NULL), ==, number);
      g_assert_true (sbx_json_gate (out->str, out->len, out->len, NULL));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-write/texts", test_texts);
  g_test_add_func ("/json-write/numbers", test_numbers);
  g_test_add_func ("/json-write/random-doubles", test_random_doubles);
  return g_test_run ();
}
