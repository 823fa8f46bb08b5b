/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/span.h"

#include <string.h>

#define MAX_WHOLE      (G_MAXUINT64 / 16)
#define MAX_WORD_BYTES 64u

typedef struct {
  const char *name;
  guint64 factor;
} Unit;

static const Unit span_units[] = {
  { "us", 1 },
  { "usec", 1 },
  { "ms", 1000 },
  { "msec", 1000 },
  { "", G_USEC_PER_SEC },
  { "s", G_USEC_PER_SEC },
  { "sec", G_USEC_PER_SEC },
  { "second", G_USEC_PER_SEC },
  { "seconds", G_USEC_PER_SEC },
  { "m", 60 * (guint64) G_USEC_PER_SEC },
  { "min", 60 * (guint64) G_USEC_PER_SEC },
  { "minute", 60 * (guint64) G_USEC_PER_SEC },
  { "minutes", 60 * (guint64) G_USEC_PER_SEC },
  { "h", 3600 * (guint64) G_USEC_PER_SEC },
  { "hr", 3600 * (guint64) G_USEC_PER_SEC },
  { "hour", 3600 * (guint64) G_USEC_PER_SEC },
  { "hours", 3600 * (guint64) G_USEC_PER_SEC },
  { "d", 86400 * (guint64) G_USEC_PER_SEC },
  { "day", 86400 * (guint64) G_USEC_PER_SEC },
  { "days", 86400 * (guint64) G_USEC_PER_SEC },
  { "w", 604800 * (guint64) G_USEC_PER_SEC },
  { "week", 604800 * (guint64) G_USEC_PER_SEC },
  { "weeks", 604800 * (guint64) G_USEC_PER_SEC },
};

static const Unit size_units[] = {
  { "", 1 },
  { "B", 1 },
  { "K", 1ull << 10 },
  { "KB", 1ull << 10 },
  { "KiB", 1ull << 10 },
  { "M", 1ull << 20 },
  { "MB", 1ull << 20 },
  { "MiB", 1ull << 20 },
  { "G", 1ull << 30 },
  { "GB", 1ull << 30 },
  { "GiB", 1ull << 30 },
  { "T", 1ull << 40 },
  { "TB", 1ull << 40 },
  { "TiB", 1ull << 40 },
};

/* Adds one "number[.fraction] unit" of text to *total. Returns what follows, or NULL. */
static const char *
read_part (const char *text, const Unit *units, gsize n_units, guint64 *total)
{
  guint64 whole = 0, divisor = 1, fraction = 0, value;
  const char *start, *end;
  const Unit *unit = NULL;

  if (!g_ascii_isdigit (*text))
    return NULL;
  for (; g_ascii_isdigit (*text); text++)
    {
      if (whole > MAX_WHOLE / 10)
        return NULL;
      whole = whole * 10 + (guint64) (*text - '0');
    }
  if (*text == '.')
    {
      text++;
      if (!g_ascii_isdigit (*text))
        return NULL;
      for (; g_ascii_isdigit (*text); text++)
        if (divisor < 1000000) /* finer than a microsecond is nothing */
          {
            fraction = fraction * 10 + (guint64) (*text - '0');
            divisor *= 10;
          }
    }
  while (*text == ' ')
    text++;
  start = text;
  for (end = start; g_ascii_isalpha (*end); end++)
    ;
  for (gsize i = 0; i < n_units && unit == NULL; i++)
    if (strlen (units[i].name) == (gsize) (end - start)
        && memcmp (units[i].name, start, (gsize) (end - start)) == 0)
      unit = &units[i];
  if (unit == NULL || whole > MAX_WHOLE / unit->factor || unit->factor > MAX_WHOLE / divisor)
    return NULL;
  value = whole * unit->factor + fraction * unit->factor / divisor;
  if (*total > MAX_WHOLE || value > MAX_WHOLE)
    return NULL;
  *total += value;
  return end;
}

gboolean
sbx_span_parse (const char *text, guint64 *ret_usec)
{
  guint64 total = 0;
  guint parts = 0;

  while (*text == ' ')
    text++;
  while (*text != '\0')
    {
      text = read_part (text, span_units, G_N_ELEMENTS (span_units), &total);
      if (text == NULL)
        return FALSE;
      while (*text == ' ')
        text++;
      parts++;
    }
  if (parts == 0)
    return FALSE;
  *ret_usec = total;
  return TRUE;
}

gboolean
sbx_size_parse (const char *text, guint64 *ret_bytes)
{
  guint64 total = 0;

  while (*text == ' ')
    text++;
  text = read_part (text, size_units, G_N_ELEMENTS (size_units), &total);
  if (text == NULL)
    return FALSE;
  while (*text == ' ')
    text++;
  if (*text != '\0')
    return FALSE;
  *ret_bytes = total;
  return TRUE;
}

gboolean
sbx_rate_parse (const char *text, guint64 *ret_number, guint64 *ret_usec)
{
  const char *slash = strchr (text, '/');
  g_autofree char *number = NULL;
  guint64 count, usec;

  if (strcmp (text, "off") == 0)
    {
      *ret_number = 0;
      *ret_usec = 0;
      return TRUE;
    }
  if (slash == NULL)
    return FALSE;
  number = g_strchomp (g_strndup (text, (gsize) (slash - text)));
  if (!g_ascii_string_to_unsigned (number, 10, 1, 1000000, &count, NULL) || !sbx_span_parse (slash + 1, &usec)
      || usec == 0)
    return FALSE;
  *ret_number = count;
  *ret_usec = usec;
  return TRUE;
}

gboolean
sbx_boolean_parse (const char *text, gboolean *ret_value)
{
  static const char *const yes[] = { "yes", "true", "on", "1", NULL };
  static const char *const no[] = { "no", "false", "off", "0", NULL };
  g_autofree char *word = g_ascii_strdown (text, -1);

  if (g_strv_contains (yes, word))
    *ret_value = TRUE;
  else if (g_strv_contains (no, word))
    *ret_value = FALSE;
  else
    return FALSE;
  return TRUE;
}

guint
sbx_edit_distance (const char *a, const char *b)
{
  gsize n_a = strlen (a), n_b = strlen (b);
  guint row[MAX_WORD_BYTES + 1];

  if (n_a > MAX_WORD_BYTES || n_b > MAX_WORD_BYTES)
    return G_MAXUINT;
  for (gsize j = 0; j <= n_b; j++)
    row[j] = (guint) j;
  for (gsize i = 1; i <= n_a; i++)
    {
      guint diagonal = row[0];

      row[0] = (guint) i;
      for (gsize j = 1; j <= n_b; j++)
        {
          guint above = row[j];
          guint changed = diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u);

          row[j] = MIN (MIN (above, row[j - 1]) + 1, changed);
          diagonal = above;
        }
    }
  return row[n_b];
}
