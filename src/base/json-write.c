/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-write.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json-gate.h"

/* --- texts --- */

/* How the character at text is escaped; NULL where it is not. room: at least 7 bytes. */
static const char *
escape_of (const char *text, gsize n_left, char *room, gsize *ret_n_taken)
{
  *ret_n_taken = 1;
  switch (*text)
    {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\t':
      return "\\t";
    case '\n':
      return "\\n";
    case '\f':
      return "\\f";
    case '\r':
      return "\\r";
    default:
      break;
    }
  if ((guchar) *text < 0x20)
    {
      (void) g_snprintf (room, 7, "\\u%04x", (guint) (guchar) *text);
      return room;
    }
  if (n_left >= 3 && memcmp (text, SBX_JSON_NUL, 3) == 0)
    {
      *ret_n_taken = 3;
      return "\\u0000";
    }
  return NULL;
}

/* Appends the text between its quotes to out, which may be NULL; returns its length. value is valid UTF-8. */
static gsize
write_inside (GString *out, const char *value, gsize n_bytes)
{
  gsize total = 0;
  gsize plain = 0; /* where the run of bytes begins that stay as they are */
  gsize i = sbx_bytes_json_plain (value, n_bytes);
  char room[7];

  while (i < n_bytes)
    {
      gsize n_taken;
      const char *escape = escape_of (value + i, n_bytes - i, room, &n_taken);

      if (escape != NULL)
        {
          total += strlen (escape) + (i - plain);
          if (out != NULL)
            {
              g_string_append_len (out, value + plain, (gssize) (i - plain));
              g_string_append (out, escape);
            }
          plain = i + n_taken;
        }
      i += n_taken;
      i += sbx_bytes_json_plain (value + i, n_bytes - i);
    }
  if (out != NULL)
    g_string_append_len (out, value + plain, (gssize) (n_bytes - plain));
  return total + (n_bytes - plain);
}

static gsize
write_text (GString *out, const char *value, gssize n_bytes)
{
  gsize length = n_bytes < 0 ? strlen (value) : (gsize) n_bytes;
  g_autofree char *repaired = NULL;

  if (!sbx_bytes_are_utf8 (value, length, NULL))
    {
      repaired = g_utf8_make_valid (value, (gssize) length);
      value = repaired;
      length = strlen (repaired);
    }
  return write_inside (out, value, length) + 2;
}

void
sbx_json_write_text (GString *out, const char *value, gssize n_bytes)
{
  g_string_append_c (out, '"');
  (void) write_text (out, value, n_bytes);
  g_string_append_c (out, '"');
}

gsize
sbx_json_text_bytes (const char *value, gssize n_bytes)
{
  return write_text (NULL, value, n_bytes);
}

/* --- numbers --- */

#define MAX_DIGITS 17 /* enough for every double */

/* The fewest digits that read back as number, which is over 0, and where its point is: 0.DIGITS times ten to
 * the power of *ret_point. */
static gsize
find_digits (double number, char digits[MAX_DIGITS], int *ret_point)
{
  /* What has at most 15 digits is found by 15, unless it is so small that it holds fewer itself. */
  int precision = number < DBL_MIN ? 1 : DBL_DIG;
  char room[G_ASCII_DTOSTR_BUF_SIZE]; /* "d.ddd…e±dd" */
  gsize n = 0;
  const char *c;

  for (; precision <= MAX_DIGITS; precision++)
    {
      char format[8];

      (void) g_snprintf (format, sizeof format, "%%.%de", precision - 1);
      (void) g_ascii_formatd (room, sizeof room, format, number);
      if (precision == MAX_DIGITS
          || !(g_ascii_strtod (room, NULL) < number || g_ascii_strtod (room, NULL) > number))
        break;
    }
  for (c = room; *c != 'e'; c++)
    if (*c != '.')
      digits[n++] = *c;
  while (n > 1 && digits[n - 1] == '0')
    n--;
  *ret_point = (int) g_ascii_strtoll (c + 1, NULL, 10) + 1;
  return n;
}

static void
write_zeros (GString *out, int n)
{
  for (int i = 0; i < n; i++)
    g_string_append_c (out, '0');
}

/* As JavaScript writes numbers (ECMAScript, Number::toString): what a model reads of a tool's answer looks
 * like everywhere else. */
void
sbx_json_write_double (GString *out, double number)
{
  char digits[MAX_DIGITS];
  int point;
  gssize n;

  if (!isfinite (number) || fpclassify (number) == FP_ZERO)
    {
      g_string_append (out, isfinite (number) ? "0" : "null");
      return;
    }
  if (number < 0)
    g_string_append_c (out, '-');
  n = (gssize) find_digits (fabs (number), digits, &point);
  if (point > 21 || point < -5)
    {
      g_string_append_c (out, digits[0]);
      if (n > 1)
        g_string_append_c (out, '.');
      g_string_append_len (out, digits + 1, n - 1);
      g_string_append_printf (out, "e%+d", point - 1);
      return;
    }
  if (point <= 0)
    {
      g_string_append (out, "0.");
      write_zeros (out, -point);
      g_string_append_len (out, digits, n);
      return;
    }
  g_string_append_len (out, digits, MIN (n, point));
  write_zeros (out, point - (int) n);
  if (n > point)
    {
      g_string_append_c (out, '.');
      g_string_append_len (out, digits + point, n - point);
    }
}
