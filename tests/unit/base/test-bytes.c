/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/bytes.h"

#include <string.h>

#define N_ROUNDS 20000

/* Pieces that stand for what the functions tell apart; a text is some of them, one after another. */
static const struct {
  const char *bytes;
  gsize n_bytes;
} pieces[] = {
  { "plain text of some length", 25 },
  { "a", 1 },
  { "\"", 1 },
  { "\\", 1 },
  { "\x1f", 1 },
  { "\x20", 1 },
  { "\x7f", 1 },
  { "\0", 1 },
  { "\xc3\xa9", 2 },
  { "\xef\xb7\x90", 3 },
  { "\xef\xbf\xbd", 3 },
  { "\xe4", 1 },
  { "\x80", 1 },
  { "\xc0\xaf", 2 },
  { "\xed\xa0\x80", 3 },
  { "\xf0\x9f\x98\x80", 4 },
  { "\xf4\x90", 2 },
  { "!", 1 },
  { "#[]^", 4 },
  { "\xee\x80\x80", 3 },
};

static GString *
make_text (GRand *dice)
{
  GString *text = g_string_new (NULL);
  guint count = (guint) g_rand_int_range (dice, 0, 8);

  for (guint i = 0; i < count; i++)
    {
      /* Half of the time what is plain, so that faults stand at every place. */
      guint which = g_rand_boolean (dice) ? (guint) g_rand_int_range (dice, 0, 2)
                                          : (guint) g_rand_int_range (dice, 0, G_N_ELEMENTS (pieces));

      g_string_append_len (text, pieces[which].bytes, (gssize) pieces[which].n_bytes);
    }
  return text;
}

static gsize
ascii_one_by_one (const char *data, gsize n_bytes)
{
  gsize i = 0;

  while (i < n_bytes && data[i] != '\0' && ((guchar) data[i] & 0x80) == 0)
    i++;
  return i;
}

static gsize
json_plain_one_by_one (const char *data, gsize n_bytes)
{
  gsize i = 0;

  while (i < n_bytes && (guchar) data[i] >= 0x20 && strchr ("\"\\\xef", data[i]) == NULL)
    i++;
  return i;
}

/* Each against its plain definition. */
static void
test_same_as_one_by_one (void)
{
  g_autoptr (GRand) dice = g_rand_new_with_seed (1);

  for (guint i = 0; i < N_ROUNDS; i++)
    {
      GString *text = make_text (dice);
      const char *end = NULL, *wanted_end = NULL;
      gboolean fine = sbx_bytes_are_utf8 (text->str, text->len, &end);

      g_assert_cmpuint (sbx_bytes_ascii (text->str, text->len), ==, ascii_one_by_one (text->str, text->len));
      g_assert_cmpuint (sbx_bytes_json_plain (text->str, text->len), ==,
                        json_plain_one_by_one (text->str, text->len));
      g_assert_cmpint (fine, ==, g_utf8_validate_len (text->str, text->len, &wanted_end));
      g_assert_cmpint (end - text->str, ==, wanted_end - text->str);
      g_assert_cmpint (sbx_bytes_are_utf8 (text->str, text->len, NULL), ==, fine);
      (void) g_string_free (text, TRUE);
    }
}

static void
test_every_byte_at_every_place (void)
{
  for (guint byte = 0; byte < 256; byte++)
    for (gsize place = 0; place < 40; place++)
      {
        char text[40];

        memset (text, 'a', sizeof text);
        text[place] = (char) byte;
        g_assert_cmpuint (sbx_bytes_ascii (text, sizeof text), ==, ascii_one_by_one (text, sizeof text));
        g_assert_cmpuint (sbx_bytes_json_plain (text, sizeof text), ==,
                          json_plain_one_by_one (text, sizeof text));
        g_assert_cmpint (sbx_bytes_are_utf8 (text, sizeof text, NULL), ==, byte > 0 && byte < 0x80);
      }
}

static void
test_no_bytes (void)
{
  const char *end = "";

  g_assert_true (sbx_bytes_are_utf8 (NULL, 0, &end));
  g_assert_null (end);
  g_assert_cmpuint (sbx_bytes_ascii (NULL, 0), ==, 0);
  g_assert_cmpuint (sbx_bytes_json_plain (NULL, 0), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bytes/same-as-one-by-one", test_same_as_one_by_one);
  g_test_add_func ("/bytes/every-byte-at-every-place", test_every_byte_at_every_place);
  g_test_add_func ("/bytes/no-bytes", test_no_bytes);
  return g_test_run ();
}
