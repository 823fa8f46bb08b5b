/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What every decoder of a payload has to do, for the tests of this room. */
#pragma once

#include <gio/gio.h>

typedef gboolean (*SbxTestDecode) (GBytes *payload, GError **error);

/* A payload is read, and neither is one of its beginnings, nor one with a byte more. Each is copied to be
 * exactly as long, so that valgrind and ASan see a read behind the end. */
static inline void
assert_exact_form (GBytes *payload, SbxTestDecode decode)
{
  gsize n_bytes;
  const guint8 *data = g_bytes_get_data (payload, &n_bytes);
  g_autoptr (GByteArray) longer = g_byte_array_new ();
  g_autoptr (GBytes) longer_bytes = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (decode (payload, &error));
  g_assert_no_error (error);
  for (gsize i = 0; i < n_bytes; i++)
    {
      g_autoptr (GBytes) part = g_bytes_new (data, i);

      g_assert_false (decode (part, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      g_clear_error (&error);
    }
  g_byte_array_append (longer, data, (guint) n_bytes);
  g_byte_array_append (longer, (const guint8 *) "", 1);
  longer_bytes = g_byte_array_free_to_bytes (g_steal_pointer (&longer));
  g_assert_false (decode (longer_bytes, NULL));
}
