/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/pack.h"

#include <gio/gio.h>

static void
test_round_trip (void)
{
  static const char *const list[] = { "a", "", "\xc3\xa9", NULL };
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autofree char *text = NULL;
  g_auto (GStrv) texts = NULL;
  g_auto (GStrv) none = NULL;
  SbxUnpack unpack;
  const guint8 *bytes;
  gsize n_bytes;

  sbx_pack_u8 (out, 0xff);
  sbx_pack_u16 (out, 0x0102);
  sbx_pack_u32 (out, 0x01020304);
  sbx_pack_u8 (out, 1);
  sbx_pack_text (out, "text");
  sbx_pack_text (out, NULL);
  sbx_pack_bytes (out, "a\0b", 3);
  sbx_pack_texts (out, list);
  sbx_pack_texts (out, NULL);

  sbx_unpack_init (&unpack, out->data, out->len);
  g_assert_cmpuint (sbx_unpack_u8 (&unpack), ==, 0xff);
  g_assert_cmpuint (sbx_unpack_u16 (&unpack), ==, 0x0102);
  g_assert_cmpuint (sbx_unpack_u32 (&unpack), ==, 0x01020304);
  g_assert_true (sbx_unpack_bool (&unpack));
  text = sbx_unpack_text (&unpack, 4);
  g_assert_cmpstr (text, ==, "text");
  g_free (text);
  text = sbx_unpack_text (&unpack, 0);
  g_assert_cmpstr (text, ==, "");
  bytes = sbx_unpack_bytes (&unpack, 3, &n_bytes);
  g_assert_cmpmem (bytes, n_bytes, "a\0b", 3);
  texts = sbx_unpack_texts (&unpack, 3, 2);
  g_assert_cmpstrv (texts, list);
  none = sbx_unpack_texts (&unpack, 0, 0);
  g_assert_cmpuint (g_strv_length (none), ==, 0);
  g_assert_true (sbx_unpack_end (&unpack, NULL));
}

/* Every length is held against what is there and against the bound. */
static void
test_lies (void)
{
  static const struct {
    const char *data;
    gsize n_bytes;
    gsize max_bytes;
    gboolean fine;
  } cases[] = {
    { "\0\0\0\2ab", 6, 2, TRUE },
    { "\0\0\0\2ab", 6, 1, FALSE },
    { "\0\0\0\3ab", 6, 9, FALSE },
    { "\xff\xff\xff\xff"
      "ab",
      6, G_MAXSIZE, FALSE },
    { "\0\0\0\2", 4, 2, FALSE },
    { "\0\0\0", 3, 2, FALSE },
    { "", 0, 2, FALSE },
    { "\0\0\0\1a.", 6, 2, FALSE },   /* something left over */
    { "\0\0\0\3a\0b", 7, 9, FALSE }, /* a NUL inside */
    { "\0\0\0\2\xc3\x28", 6, 9, FALSE },
    { "\0\0\0\1\xc3", 5, 9, FALSE },
    { "\0\0\0\0", 4, 0, TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree guint8 *data = g_memdup2 (cases[i].data, cases[i].n_bytes);
      g_autofree char *text = NULL;
      SbxUnpack unpack;

      sbx_unpack_init (&unpack, data, cases[i].n_bytes);
      text = sbx_unpack_text (&unpack, cases[i].max_bytes);
      g_assert_true (sbx_unpack_end (&unpack, &error) == cases[i].fine);
      if (!cases[i].fine)
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
    }
}

static void
test_lists_are_bounded (void)
{
  static const guint8 huge[] = { 0xff, 0xff, 0xff, 0xff };
  static const guint8 short_of_one[] = { 0, 0, 0, 2, 0, 0, 0, 1, 'a' };
  SbxUnpack unpack;

  sbx_unpack_init (&unpack, huge, sizeof huge);
  g_assert_null (sbx_unpack_texts (&unpack, 128, 48));
  g_assert_false (sbx_unpack_end (&unpack, NULL));
  sbx_unpack_init (&unpack, short_of_one, sizeof short_of_one);
  g_assert_null (sbx_unpack_texts (&unpack, 128, 48));
  g_assert_false (sbx_unpack_end (&unpack, NULL));
}

/* After a fault everything reads as nothing. */
static void
test_fault_sticks (void)
{
  static const guint8 data[] = { 2, 1, 1, 1, 1, 1, 1, 1 };
  SbxUnpack unpack;

  sbx_unpack_init (&unpack, data, sizeof data);
  g_assert_false (sbx_unpack_bool (&unpack)); /* neither 0 nor 1 */
  g_assert_cmpuint (sbx_unpack_u8 (&unpack), ==, 0);
  g_assert_cmpuint (sbx_unpack_u16 (&unpack), ==, 0);
  g_assert_cmpuint (sbx_unpack_u32 (&unpack), ==, 0);
  g_assert_null (sbx_unpack_text (&unpack, 10));
  g_assert_null (sbx_unpack_texts (&unpack, 10, 10));
  g_assert_false (sbx_unpack_end (&unpack, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pack/round-trip", test_round_trip);
  g_test_add_func ("/pack/lies", test_lies);
  g_test_add_func ("/pack/lists-are-bounded", test_lists_are_bounded);
  g_test_add_func ("/pack/fault-sticks", test_fault_sticks);
  return g_test_run ();
}
