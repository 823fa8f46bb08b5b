/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/timestamp.h"

#include <string.h>

#include "config/span.h"

static gint64
usec_of (GDateTime *time)
{
  return g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time);
}

/* Midnight of the day that is so many days after now's. */
static gboolean
parse_day (const char *text, GDateTime *now, gint64 *ret_usec)
{
  static const struct {
    const char *name;
    int days;
  } days[] = { { "yesterday", -1 }, { "today", 0 }, { "tomorrow", 1 } };

  for (gsize i = 0; i < G_N_ELEMENTS (days); i++)
    if (strcmp (text, days[i].name) == 0)
      {
        g_autoptr (GDateTime) day = g_date_time_add_days (now, days[i].days);
        g_autoptr (GDateTime) midnight =
          g_date_time_new (g_date_time_get_timezone (now), g_date_time_get_year (day),
                           g_date_time_get_month (day), g_date_time_get_day_of_month (day), 0, 0, 0);

        *ret_usec = usec_of (midnight);
        return TRUE;
      }
  return FALSE;
}

static gboolean
parse_span (const char *text, GDateTime *now, gint64 *ret_usec)
{
  g_autofree char *span = NULL;
  gboolean back = *text == '-';
  guint64 usec;

  if (*text == '-' || *text == '+')
    span = g_strdup (text + 1);
  else if (g_str_has_suffix (text, " ago"))
    {
      span = g_strndup (text, strlen (text) - strlen (" ago"));
      back = TRUE;
    }
  if (span == NULL || !sbx_span_parse (g_strstrip (span), &usec) || usec > (guint64) usec_of (now))
    return FALSE;
  *ret_usec = back ? usec_of (now) - (gint64) usec : usec_of (now) + (gint64) usec;
  return TRUE;
}

/* So many digits and nothing else before the end character. Returns what follows it, or NULL. */
static const char *
read_number (const char *text, gsize n_digits, char end, int *ret_number)
{
  int number = 0;

  for (gsize i = 0; i < n_digits; i++)
    {
      if (!g_ascii_isdigit (text[i]))
        return NULL;
      number = number * 10 + (text[i] - '0');
    }
  if (text[n_digits] != end)
    return NULL;
  *ret_number = number;
  return end != '\0' ? text + n_digits + 1 : text + n_digits;
}

static gboolean
parse_clock (const char *text, int *ret_hour, int *ret_minute, int *ret_second)
{
  const char *rest = read_number (text, 2, ':', ret_hour);

  *ret_second = 0;
  if (rest == NULL)
    return FALSE;
  if (read_number (rest, 2, '\0', ret_minute) != NULL)
    return TRUE;
  rest = read_number (rest, 2, ':', ret_minute);
  return rest != NULL && read_number (rest, 2, '\0', ret_second) != NULL;
}

static gboolean
parse_date (const char *text, GDateTime *now, gint64 *ret_usec)
{
  int year = g_date_time_get_year (now), month = g_date_time_get_month (now);
  int day = g_date_time_get_day_of_month (now), hour = 0, minute = 0, second = 0;
  g_autoptr (GDateTime) time = NULL;
  const char *rest = read_number (text, 4, '-', &year);

  if (rest != NULL)
    {
      g_autofree char *two = NULL;

      rest = read_number (rest, 2, '-', &month);
      if (rest == NULL || strlen (rest) < 2)
        return FALSE;
      two = g_strndup (rest, 2);
      if (read_number (two, 2, '\0', &day) == NULL)
        return FALSE;
      rest += 2;
      if (*rest != '\0' && (*rest != ' ' || !parse_clock (rest + 1, &hour, &minute, &second)))
        return FALSE;
    }
  else if (!parse_clock (text, &hour, &minute, &second))
    return FALSE;
  time = g_date_time_new (g_date_time_get_timezone (now), year, month, day, hour, minute, second);
  if (time == NULL)
    return FALSE;
  *ret_usec = usec_of (time);
  return TRUE;
}

static gboolean
parse_seconds (const char *text, gint64 *ret_usec)
{
  guint64 seconds;

  if (*text != '@'
      || !g_ascii_string_to_unsigned (text + 1, 10, 0, G_MAXINT64 / G_USEC_PER_SEC, &seconds, NULL))
    return FALSE;
  *ret_usec = (gint64) seconds * G_USEC_PER_SEC;
  return TRUE;
}

gboolean
sbx_timestamp_parse (const char *text, GDateTime *now, gint64 *ret_usec)
{
  if (strcmp (text, "now") == 0)
    {
      *ret_usec = usec_of (now);
      return TRUE;
    }
  return parse_day (text, now, ret_usec) || parse_seconds (text, ret_usec) || parse_span (text, now, ret_usec)
         || parse_date (text, now, ret_usec);
}
