/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/timestamp.h"

#define NOW "2026-11-29T16:30:15+01:00"

typedef struct {
  const char *text;
  const char *wanted; /* ISO 8601 as glib writes it; NULL: refused */
} Row;

static const Row rows[] = {
  { "now", "2026-11-29T16:30:15+01" },
  { "today", "2026-11-29T00:00:00+01" },
  { "yesterday", "2026-11-28T00:00:00+01" },
  { "tomorrow", "2026-11-30T00:00:00+01" },
  { "2026-11-28", "2026-11-28T00:00:00+01" },
  { "2026-11-28 09:05", "2026-11-28T09:05:00+01" },
  { "2026-11-28 09:05:07", "2026-11-28T09:05:07+01" },
  { "09:05", "2026-11-29T09:05:00+01" },
  { "09:05:07", "2026-11-29T09:05:07+01" },
  { "@0", "1970-01-01T01:00:00+01" },
  { "@1795966215", "2026-11-29T16:30:15+01" },
  { "-1h 30min", "2026-11-29T15:00:15+01" },
  { "-90s", "2026-11-29T16:28:45+01" },
  { "+5min", "2026-11-29T16:35:15+01" },
  { "2h ago", "2026-11-29T14:30:15+01" },
  { "1day 1h ago", "2026-11-28T15:30:15+01" },
  { "", NULL },
  { "soon", NULL },
  { "1h", NULL },
  { "ago", NULL },
  { " ago", NULL },
  { "-", NULL },
  { "-1 fortnight", NULL },
  { "-99999999w", NULL },
  { "@", NULL },
  { "@-1", NULL },
  { "@99999999999999999999", NULL },
  { "2026-13-01", NULL },
  { "2026-02-30", NULL },
  { "2026-1-1", NULL },
  { "2026-11-28T09:05", NULL },
  { "2026-11-28 9:05", NULL },
  { "2026-11-28 09:05:07.5", NULL },
  { "24:00", NULL },
  { "0905", NULL },
};

static void
test_table (void)
{
  g_autoptr (GTimeZone) zone = g_time_zone_new_offset (3600);
  g_autoptr (GDateTime) now = g_date_time_new_from_iso8601 (NOW, zone);

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      gint64 usec = -1;
      gboolean fine = sbx_timestamp_parse (rows[i].text, now, &usec);
      g_autoptr (GDateTime) utc = NULL;
      g_autoptr (GDateTime) local = NULL;
      g_autofree char *got = NULL;

      g_test_message ("\"%s\"", rows[i].text);
      g_assert_cmpint (fine, ==, rows[i].wanted != NULL);
      if (!fine)
        {
          g_assert_cmpint (usec, ==, -1);
          continue;
        }
      utc = g_date_time_new_from_unix_utc (usec / G_USEC_PER_SEC);
      local = g_date_time_to_timezone (utc, zone);
      got = g_date_time_format_iso8601 (local);
      g_assert_cmpstr (got, ==, rows[i].wanted);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/timestamp/table", test_table);
  return g_test_run ();
}
