/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/bytes.h"

#include <string.h>

/* What a vector register takes on every processor that has them; the compiler does without where there is
 * none. */
#define EACH 16

typedef gint8 Signed __attribute__ ((vector_size (EACH)));
typedef guint8 Unsigned __attribute__ ((vector_size (EACH)));

/* The first lane that is set of what a comparison gave, EACH where none is. */
static guint
first (Signed lanes)
{
  guint64 halves[2];

  memcpy (halves, &lanes, sizeof halves);
  if ((halves[0] | halves[1]) == 0)
    return EACH;
  halves[0] = GUINT64_FROM_LE (halves[0]);
  halves[1] = GUINT64_FROM_LE (halves[1]);
  return halves[0] != 0 ? (guint) __builtin_ctzll (halves[0]) / 8
                        : 8 + (guint) __builtin_ctzll (halves[1]) / 8;
}

gsize
sbx_bytes_ascii (const char *data, gsize n_bytes)
{
  gsize i = 0;

  for (; n_bytes - i >= EACH; i += EACH)
    {
      Signed bytes;
      guint n;

      memcpy (&bytes, data + i, sizeof bytes);
      n = first (bytes < 1);
      if (n < EACH)
        return i + n;
    }
  while (i < n_bytes && (gint8) data[i] > 0)
    i++;
  return i;
}

static gboolean
is_json_plain (guchar byte)
{
  return byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0xef;
}

gsize
sbx_bytes_json_plain (const char *data, gsize n_bytes)
{
  gsize i = 0;

  for (; n_bytes - i >= EACH; i += EACH)
    {
      Unsigned bytes;
      guint n;

      memcpy (&bytes, data + i, sizeof bytes);
      n = first ((bytes < 0x20) | (bytes == '"') | (bytes == '\\') | (bytes == 0xef));
      if (n < EACH)
        return i + n;
    }
  while (i < n_bytes && is_json_plain ((guchar) data[i]))
    i++;
  return i;
}

/* Characters of two bytes, which most that are not ASCII are in Latin, Greek and Cyrillic texts: a call of
 * GLib's for each would cost more than all else. */
static gsize
skip_pairs (const char *data, gsize n_bytes)
{
  gsize i = 0;

  while (n_bytes - i >= 2 && (guchar) data[i] >= 0xc2 && (guchar) data[i] <= 0xdf
         && (gint8) data[i + 1] < -64)
    i += 2;
  return i;
}

gboolean
sbx_bytes_are_utf8 (const char *data, gsize n_bytes, const char **ret_end)
{
  gboolean fine = TRUE;
  gsize i = 0;

  while (fine && i < n_bytes)
    {
      const char *end;
      gsize run;

      i += sbx_bytes_ascii (data + i, n_bytes - i);
      i += skip_pairs (data + i, n_bytes - i);
      /* A run of bytes that are not ASCII is of whole characters: no character has an ASCII byte. */
      for (run = i; run < n_bytes && (gint8) data[run] < 0; run++)
        ;
      if (run > i)
        {
          fine = g_utf8_validate_len (data + i, run - i, &end);
          i = (gsize) (end - data);
        }
      else
        fine = i == n_bytes || data[i] != '\0';
    }
  if (ret_end != NULL)
    *ret_end = i > 0 ? data + i : data; /* which may be NULL where there are no bytes */
  return fine;
}
