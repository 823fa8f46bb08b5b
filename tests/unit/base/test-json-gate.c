/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-gate.h"
#include "base/json-tree.h"

#include <string.h>

#define MAX_BYTES (1024u * 1024u)
#define FINE      (-1)

/* text, and the code that refuses it. */
typedef struct {
  const char *text;
  int code;
} Case;

static const Case grammar[] = {
  { "{}", FINE },
  { "[]", FINE },
  { " \t\r\n{ \"a\" : [ 1 , 2 ] } \n", FINE },
  { "true", FINE },
  { "\"x\"", FINE },
  { "0", FINE },
  { "{\"\":1}", FINE },
  { "[[],{},[{}]]", FINE },
  { "", SBX_JSON_ERROR_SYNTAX },
  { "  ", SBX_JSON_ERROR_SYNTAX },
  { "{", SBX_JSON_ERROR_SYNTAX },
  { "[1", SBX_JSON_ERROR_SYNTAX },
  { "[1,", SBX_JSON_ERROR_SYNTAX },
  { "{}x", SBX_JSON_ERROR_SYNTAX },
  { "{}{}", SBX_JSON_ERROR_SYNTAX },
  { "{}\n{}", SBX_JSON_ERROR_SYNTAX },
  { "{}}", SBX_JSON_ERROR_SYNTAX },
  { "[1,]", SBX_JSON_ERROR_SYNTAX },
  { "[,1]", SBX_JSON_ERROR_SYNTAX },
  { "[1 2]", SBX_JSON_ERROR_SYNTAX },
  { "[1}", SBX_JSON_ERROR_SYNTAX },
  { "{\"a\":1]", SBX_JSON_ERROR_SYNTAX },
  { "{\"a\":1,}", SBX_JSON_ERROR_SYNTAX },
  { "{,\"a\":1}", SBX_JSON_ERROR_SYNTAX },
  { "{,}", SBX_JSON_ERROR_SYNTAX },
  { "{\"a\"}", SBX_JSON_ERROR_SYNTAX },
  { "{\"a\":}", SBX_JSON_ERROR_SYNTAX },
  { "{:1}", SBX_JSON_ERROR_SYNTAX },
  { "{\"a\"=1}", SBX_JSON_ERROR_SYNTAX },
  { "{\"a\":1;}", SBX_JSON_ERROR_SYNTAX },
  { "{a:1}", SBX_JSON_ERROR_SYNTAX },
  { "{'a':1}", SBX_JSON_ERROR_SYNTAX },
  { "{1:1}", SBX_JSON_ERROR_SYNTAX },
  { "{\"a\":1,\"b\":2", SBX_JSON_ERROR_SYNTAX },
  { "/*x*/{}", SBX_JSON_ERROR_SYNTAX },
  { "{} //x", SBX_JSON_ERROR_SYNTAX },
  { "# x\n{}", SBX_JSON_ERROR_SYNTAX },
  { "var a = {};", SBX_JSON_ERROR_SYNTAX },
  { "tru", SBX_JSON_ERROR_SYNTAX },
  { "True", SBX_JSON_ERROR_SYNTAX },
  { "truex", SBX_JSON_ERROR_SYNTAX },
  { "nul", SBX_JSON_ERROR_SYNTAX },
  { "undefined", SBX_JSON_ERROR_SYNTAX },
  { "\f{}", SBX_JSON_ERROR_SYNTAX },
  { "\v{}", SBX_JSON_ERROR_SYNTAX },
  { "\xc2\xa0{}", SBX_JSON_ERROR_SYNTAX },
  { "\xef\xbb\xbf{}", SBX_JSON_ERROR_SYNTAX }, /* a byte order mark */
};

static const Case texts[] = {
  { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"", FINE },
  { "\"\\u00e9\\uD83D\\uDE00\\u0000\"", FINE },
  { "\"\x7f/'\xe2\x80\xa8\"", FINE }, /* DEL, slash, quote, U+2028: all raw */
  { "\"\\ud800\"", FINE },
  { "\"\\udc00\\ud800x\"", FINE },
  { "\"", SBX_JSON_ERROR_SYNTAX },
  { "\"a", SBX_JSON_ERROR_SYNTAX },
  { "\"a\\", SBX_JSON_ERROR_SYNTAX },
  { "\"\\q\"", SBX_JSON_ERROR_SYNTAX },
  { "\"\\x41\"", SBX_JSON_ERROR_SYNTAX },
  { "\"\\U0041\"", SBX_JSON_ERROR_SYNTAX },
  { "\"\\u00zz\"", SBX_JSON_ERROR_SYNTAX },
  { "\"\\u004\"", SBX_JSON_ERROR_SYNTAX },
  { "\"\\u004", SBX_JSON_ERROR_SYNTAX },
  { "\"\\ud800\\u12\"", SBX_JSON_ERROR_SYNTAX },
  { "\"a\nb\"", SBX_JSON_ERROR_SYNTAX },
  { "\"a\tb\"", SBX_JSON_ERROR_SYNTAX },
  { "\"\x01\"", SBX_JSON_ERROR_SYNTAX },
  { "\"\xff\"", SBX_JSON_ERROR_ENCODING },
  { "\"\xe4\xb8\"", SBX_JSON_ERROR_ENCODING },
  { "\"\xc0\xaf\"", SBX_JSON_ERROR_ENCODING },
  { "\"\xed\xa0\x80\"", SBX_JSON_ERROR_ENCODING },
  { "\"\x80\"", SBX_JSON_ERROR_ENCODING },
  { "\xff\xfe{}", SBX_JSON_ERROR_ENCODING },
};

static const Case numbers[] = {
  { "-0", FINE },
  { "-1", FINE },
  { "10", FINE },
  { "0.5", FINE },
  { "1e3", FINE },
  { "1E+3", FINE },
  { "1e-400", FINE },
  { "9223372036854775807", FINE },
  { "-9223372036854775808", FINE },
  { "18446744073709551615", FINE },
  { "1e308", FINE },
  { "+1", SBX_JSON_ERROR_SYNTAX },
  { "-", SBX_JSON_ERROR_SYNTAX },
  { "--1", SBX_JSON_ERROR_SYNTAX },
  { "01", SBX_JSON_ERROR_SYNTAX },
  { "-01", SBX_JSON_ERROR_SYNTAX },
  { "0x10", SBX_JSON_ERROR_SYNTAX },
  { ".5", SBX_JSON_ERROR_SYNTAX },
  { "5.", SBX_JSON_ERROR_SYNTAX },
  { "1e", SBX_JSON_ERROR_SYNTAX },
  { "1e+", SBX_JSON_ERROR_SYNTAX },
  { "1.e3", SBX_JSON_ERROR_SYNTAX },
  { "Infinity", SBX_JSON_ERROR_SYNTAX },
  { "-Infinity", SBX_JSON_ERROR_SYNTAX },
  { "NaN", SBX_JSON_ERROR_SYNTAX },
  { "1,0", SBX_JSON_ERROR_SYNTAX },
  { "1e400", SBX_JSON_ERROR_NUMBER },
  { "-1e400", SBX_JSON_ERROR_NUMBER },
};

static const Case names[] = {
  { "{\"a\":1,\"b\":2}", FINE },
  { "{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}", FINE },
  { "[{\"a\":1},{\"a\":1}]", FINE },
  { "{\"a\":1,\"a \":1,\"A\":1}", FINE },
  { "{\"a\":1,\"a\":1}", SBX_JSON_ERROR_REPEATED_NAME },
  { "{\"a\":1,\"\\u0061\":1}", SBX_JSON_ERROR_REPEATED_NAME },
  { "{\"\":1,\"\":1}", SBX_JSON_ERROR_REPEATED_NAME },
  { "{\"a\":{\"b\":1,\"c\":[],\"b\":2}}", SBX_JSON_ERROR_REPEATED_NAME },
  { "{\"a\":{\"a\":1},\"a\":2}", SBX_JSON_ERROR_REPEATED_NAME },
  { "{\"\\ud800\":1,\"\\ufffd\":1}", SBX_JSON_ERROR_REPEATED_NAME },
  { "{\"x\":1,\"\\u0000\":1,\"\\u0000\":1}", SBX_JSON_ERROR_REPEATED_NAME },
  { "{\"a\\u0000\":1,\"a\":1}", FINE },
};

static void
check_case (const Case *wanted)
{
  g_autoptr (GError) gate_error = NULL;
  g_autoptr (GError) read_error = NULL;
  gsize n_bytes = strlen (wanted->text);
  g_autoptr (JsonNode) root = sbx_json_read (wanted->text, n_bytes, MAX_BYTES, &read_error);
  gboolean fine = sbx_json_gate (wanted->text, n_bytes, MAX_BYTES, &gate_error);

  if (fine != (wanted->code == FINE))
    {
      g_autofree char *beginning = g_strndup (wanted->text, 60);
      g_autofree char *shown = g_strescape (beginning, NULL);

      g_test_message ("%s: %s", shown, gate_error != NULL ? gate_error->message : "accepted");
    }
  g_assert_true (fine == (wanted->code == FINE));
  g_assert_true (fine == (root != NULL));
  if (fine)
    return;
  g_assert_error (gate_error, SBX_JSON_ERROR, wanted->code);
  g_assert_error (read_error, SBX_JSON_ERROR, wanted->code);
  g_assert_cmpstr (gate_error->message, ==, read_error->message);
}

static void
check_cases (const Case *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++)
    check_case (&cases[i]);
}

static void
test_grammar (void)
{
  check_cases (grammar, G_N_ELEMENTS (grammar));
}

static void
test_texts (void)
{
  check_cases (texts, G_N_ELEMENTS (texts));
}

static void
test_numbers (void)
{
  check_cases (numbers, G_N_ELEMENTS (numbers));
}

static void
test_names (void)
{
  check_cases (names, G_N_ELEMENTS (names));
}

/* A NUL byte among the bytes given ends nothing: it is refused. */
static void
test_nul_byte (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (sbx_json_gate ("{}\0", 3, MAX_BYTES, &error));
  g_assert_error (error, SBX_JSON_ERROR, SBX_JSON_ERROR_ENCODING);
  g_clear_error (&error);
  g_assert_false (sbx_json_gate ("\"a\0b\"", 5, MAX_BYTES, &error));
  g_assert_error (error, SBX_JSON_ERROR, SBX_JSON_ERROR_ENCODING);
}

/* Neither an end of the text nor anything behind it is read: each beginning of a text is a text of its own.
 */
static void
test_beginnings (void)
{
  const char *whole = "{\"a\\u00e9\":[1.5e3,true,null,\"\\ud83d\\ude00\"],\"b\":-0}";

  for (gsize n_bytes = 0; n_bytes < strlen (whole); n_bytes++)
    {
      g_autofree char *part = g_memdup2 (whole, n_bytes); /* exactly as long, so that valgrind and ASan see */

      g_assert_false (sbx_json_gate (part, n_bytes, MAX_BYTES, NULL));
    }
  g_assert_true (sbx_json_gate (whole, strlen (whole), MAX_BYTES, NULL));
}

static void
test_size (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sbx_json_gate ("[1]", 3, 3, NULL));
  g_assert_false (sbx_json_gate ("[1] ", 4, 3, &error));
  g_assert_error (error, SBX_JSON_ERROR, SBX_JSON_ERROR_TOO_LARGE);
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

static void
test_depth (void)
{
  static const struct {
    const char *open;
    const char *inside;
    const char *close;
    guint depth;
    gboolean fine;
  } cases[] = {
    { "[", "", "]", SBX_JSON_MAX_DEPTH, TRUE },
    { "[", "", "]", SBX_JSON_MAX_DEPTH + 1, FALSE },
    { "{\"a\":", "1", "}", SBX_JSON_MAX_DEPTH, TRUE },
    { "{\"a\":", "1", "}", SBX_JSON_MAX_DEPTH + 1, FALSE },
    { "[", "", "]", 100000, FALSE },
    { "[", "", "", 130000, FALSE },
    { "{\"a\":", "1", "}", 40000, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = nested (cases[i].open, cases[i].inside, cases[i].close, cases[i].depth);
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonNode) root = sbx_json_read (text, strlen (text), MAX_BYTES, &error);

      g_assert_true ((root != NULL) == cases[i].fine);
      if (!cases[i].fine)
        g_assert_error (error, SBX_JSON_ERROR, SBX_JSON_ERROR_TOO_DEEP);
    }
}

/* An object of many members, the last of which repeats the first. */
static char *
many_members (guint count, gboolean repeat)
{
  GString *text = g_string_new ("{");

  for (guint i = 0; i < count; i++)
    g_string_append_printf (text, "%s\"m%u\":0", i > 0 ? "," : "", repeat && i == count - 1 ? 0 : i);
  g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}

static void
test_many_members (void)
{
  static const struct {
    guint count;
    gboolean repeat;
    int code;
  } cases[] = {
    { SBX_JSON_MAX_MEMBERS, FALSE, FINE },
    { SBX_JSON_MAX_MEMBERS, TRUE, SBX_JSON_ERROR_REPEATED_NAME },
    { SBX_JSON_MAX_MEMBERS + 1, FALSE, SBX_JSON_ERROR_TOO_MANY_MEMBERS },
    { 20000, FALSE, SBX_JSON_ERROR_TOO_MANY_MEMBERS },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = many_members (cases[i].count, cases[i].repeat);

      check_case (&(Case){ text, cases[i].code });
    }
}

static void
test_long_number (void)
{
  g_autofree char *digits = g_strnfill (1200, '1');
  g_autofree char *fraction = g_strdup_printf ("0.%.1000s", digits);
  g_autofree char *long_fraction = g_strdup_printf ("0.%s", digits);

  check_case (&(Case){ fraction, FINE });
  check_case (&(Case){ long_fraction, FINE });
  check_case (&(Case){ digits, SBX_JSON_ERROR_NUMBER });
}

/* Errors reach the journal, so nothing that stands in the text may. */
static void
test_error_is_silent_about_content (void)
{
  g_autoptr (GError) error = NULL;
  const char *text = "{\"secret-name\":\"secret-value\" secret-rest}";

  g_assert_false (sbx_json_gate (text, strlen (text), MAX_BYTES, &error));
  g_assert_null (strstr (error->message, "secret"));
  g_assert_nonnull (strstr (error->message, "byte 30"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-gate/grammar", test_grammar);
  g_test_add_func ("/json-gate/texts", test_texts);
  g_test_add_func ("/json-gate/numbers", test_numbers);
  g_test_add_func ("/json-gate/names", test_names);
  g_test_add_func ("/json-gate/nul-byte", test_nul_byte);
  g_test_add_func ("/json-gate/beginnings", test_beginnings);
  g_test_add_func ("/json-gate/size", test_size);
  g_test_add_func ("/json-gate/depth", test_depth);
  g_test_add_func ("/json-gate/many-members", test_many_members);
  g_test_add_func ("/json-gate/long-number", test_long_number);
  g_test_add_func ("/json-gate/silent-error", test_error_is_silent_about_content);
  return g_test_run ();
}
