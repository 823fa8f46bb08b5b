/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/bytes.h"

#include <string.h>

/* What a vector register takes on every processor that has them; the compiler does without where there is
 * none. */
#define EACH 16

typedef gint8 Signed __attribute__ ((vector_size (EACH)));
typedef guint8 Unsigned __attribute__ ((vector_size (EACH)));

/* Whether any lane of what a comparison gave is set. */
static gboolean
any (Signed lanes)
{
  guint64 halves[2];

  memcpy (halves, &lanes, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

gsize
sbx_bytes_ascii (const char *data, gsize n_bytes)
{
  gsize i = 0;

  for (; n_bytes - i >= EACH; i += EACH)
    {
      Signed bytes;

      memcpy (&bytes, data + i, sizeof bytes);
      if (any (bytes < 1))
        break;
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

      memcpy (&bytes, data + i, sizeof bytes);
      if (any ((bytes < 0x20) | (bytes == '"') | (bytes == '\\') | (bytes == 0xef)))
        break;
    }
  while (i < n_bytes && is_json_plain ((guchar) data[i]))
    i++;
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
      gsize run = i;

      i += sbx_bytes_ascii (data + i, n_bytes - i);
      /* A run of bytes that are not ASCII is of whole characters: no character has an ASCII byte. */
      for (run = i; run < n_bytes && (gint8) data[run] < 0; run++)
        ;
      if (run == i && i < n_bytes)
        break; /* a NUL */
      fine = g_utf8_validate_len (data + i, run - i, &end);
      i = (gsize) (end - data);
    }
  if (ret_end != NULL)
    *ret_end = i > 0 ? data + i : data; /* which may be NULL where there are no bytes */
  return fine && i == n_bytes;
}
