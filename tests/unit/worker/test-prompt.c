/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>

#include "prompt.h"

static void
test_zones (void)
{
  static const char *const good[] = { "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5" };
  static const char *const bad[] = {
    "",
    "Nowhere/Town",
    "../Europe/Berlin",
    "Europe/../UTC",
    "Europe/..",
    "/usr/share/zoneinfo/UTC",
    "Europe/",
    "Europe",
    "Europe//Berlin",
    "+01:00",
    "CET-1CEST",
    ":UTC",
    "leapseconds",
    "zone.tab",
    "tzdata.zi",
    "UTC ",
    " UTC",
    "UTC\n",
    "./UTC",
    "posixrules\xef\xb7\x90",
  };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr (GTimeZone) zone = sbx_prompt_zone (good[i]);

      g_test_message ("%s", good[i]);
      g_assert_nonnull (zone);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_test_message ("%s", bad[i]);
      g_assert_null (sbx_prompt_zone (bad[i]));
    }
}

static void
test_message (void)
{
  g_autoptr (GTimeZone) zone = g_time_zone_new_utc ();
  g_autoptr (GDateTime) noon = g_date_time_new (zone, 2026, 11, 29, 12, 5, 0);
  g_autoptr (GDateTime) night = g_date_time_new (zone, 2026, 1, 5, 0, 0, 0);
  g_autofree char *at_noon = sbx_prompt_new ("Be kind.", noon, "[1]", "[2]");
  g_autofree char *at_night = sbx_prompt_new ("", night, "[]", "[]");

  g_assert_true (
    g_str_has_prefix (at_noon, "Be kind.\nIt is now Sunday, November 29, 2026 at 12:05 PM (UTC).\n"));
  g_assert_true (strstr (at_noon, "[1]\n") != NULL && strstr (at_noon, "[1]") < strstr (at_noon, "[2]"));
  g_assert_nonnull (strstr (at_night, "Monday, January 5, 2026 at 12:00 AM"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/prompt/zones", test_zones);
  g_test_add_func ("/worker/prompt/message", test_message);
  return g_test_run ();
}
