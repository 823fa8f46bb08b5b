/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/utf16.h"

#include <string.h>

gsize
sbx_utf16_units_of (const char *text, gsize n_bytes)
{
  const guchar *bytes = (const guchar *) text;
  gsize units = 0;

  /* A unit for each first byte, a second one where four bytes make the character. */
  for (gsize i = 0; i < n_bytes; i++)
    units += (gsize) ((bytes[i] & 0xc0) != 0x80) + (gsize) (bytes[i] >= 0xf0);
  return units;
}

gsize
sbx_utf16_units (const char *text)
{
  return sbx_utf16_units_of (text, strlen (text));
}
