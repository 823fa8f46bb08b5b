/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/utf16.h"

gsize
sbx_utf16_units (const char *text)
{
  gsize units = 0;

  /* A unit for each first byte, a second one where four bytes make the character. */
  for (const guchar *p = (const guchar *) text; *p != '\0'; p++)
    units += (gsize) ((*p & 0xc0) != 0x80) + (gsize) (*p >= 0xf0);
  return units;
}
