/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/frame.h"

#include <gio/gio.h>
#include <string.h>

static const SbxFrameRule rules[] = {
  { SBX_FRAME_READY, 0, 0 },
  { SBX_FRAME_AUDIT, 256, 0 },
};

static void
test_form (void)
{
  static const guint8 expected[SBX_FRAME_HEAD_BYTES] = { 'S',  'B',  'X',  '1',  0x02, 0x06, 0,    0,
                                                         0x01, 0x02, 0x03, 0x04, 0,    0,    0x01, 0 };
  SbxFrameHead head = { .type = SBX_FRAME_AUDIT, .id = 0x01020304, .n_bytes = 256 };
  SbxFrameHead read;
  guint8 bytes[SBX_FRAME_HEAD_BYTES];

  sbx_frame_head_write (&head, bytes);
  g_assert_cmpmem (bytes, sizeof bytes, expected, sizeof expected);
  g_assert_true (sbx_frame_head_read (bytes, rules, G_N_ELEMENTS (rules), &read, NULL) == &rules[1]);
  g_assert_cmpint (read.type, ==, SBX_FRAME_AUDIT);
  g_assert_cmpuint (read.id, ==, 0x01020304);
  g_assert_cmpuint (read.n_bytes, ==, 256);
}

/* Each byte of a good head, changed in each bit: nothing but the id and a shorter length may differ. */
static void
test_one_bit_off (void)
{
  SbxFrameHead head = { .type = SBX_FRAME_AUDIT, .id = 1, .n_bytes = 256 };

  for (gsize i = 0; i < SBX_FRAME_HEAD_BYTES; i++)
    for (guint bit = 0; bit < 8; bit++)
      {
        g_autoptr (GError) error = NULL;
        guint8 bytes[SBX_FRAME_HEAD_BYTES];
        SbxFrameHead read = { 0 };
        const SbxFrameRule *rule;

        sbx_frame_head_write (&head, bytes);
        bytes[i] ^= (guint8) (1u << bit);
        rule = sbx_frame_head_read (bytes, rules, G_N_ELEMENTS (rules), &read, &error);
        if (rule != NULL)
          {
            g_assert_true ((i >= 8 && i < 12) || read.n_bytes == 0);
            g_assert_cmpuint (read.n_bytes, <=, rule->max_bytes);
          }
        else
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/frame/form", test_form);
  g_test_add_func ("/frame/one-bit-off", test_one_bit_off);
  return g_test_run ();
}
