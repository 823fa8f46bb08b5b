/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/speaker-rate.h"

static void
test_window_slides (void)
{
  g_autoptr (SbxSpeakerRate) rate = sbx_speaker_rate_new (2, 100);

  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "ada", 0), ==, 0);
  sbx_speaker_rate_count (rate, "d:1", "ada", 0);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "ada", 30), ==, 0);
  sbx_speaker_rate_count (rate, "d:1", "ada", 30);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "ada", 40), ==, 60);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "ada", 99), ==, 1);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "ada", 100), ==, 0);
  sbx_speaker_rate_count (rate, "d:1", "ada", 100);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "ada", 100), ==, 30);
}

static void
test_whose_it_is (void)
{
  g_autoptr (SbxSpeakerRate) rate = sbx_speaker_rate_new (1, 100);

  sbx_speaker_rate_count (rate, "d:1", "ada", 0);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:2", "ada", 0), ==, 100);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "irc:1", "ada", 0), ==, 0);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "bob", 0), ==, 0);
}

static void
test_limit_changes (void)
{
  g_autoptr (SbxSpeakerRate) rate = sbx_speaker_rate_new (3, 100);

  for (gint64 now = 0; now < 30; now += 10)
    sbx_speaker_rate_count (rate, "d:1", "ada", now);
  sbx_speaker_rate_set (rate, 1, 100);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "ada", 30), ==, 90);
  sbx_speaker_rate_set (rate, 0, 0);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "ada", 30), ==, 0);
}

/* However many names somebody invents, memory has a bound, and the newest are known. */
static void
test_bounded (void)
{
  g_autoptr (SbxSpeakerRate) rate = sbx_speaker_rate_new (1, 1000000);

  for (guint i = 0; i < SBX_SPEAKER_RATE_MAX + 10; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);

      sbx_speaker_rate_count (rate, "d:1", name, i);
    }
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "9", 20000), ==, 0);
  g_assert_cmpint (sbx_speaker_rate_wait_usec (rate, "d:1", "10", 20000), >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/speaker-rate/window-slides", test_window_slides);
  g_test_add_func ("/turn/speaker-rate/whose-it-is", test_whose_it_is);
  g_test_add_func ("/turn/speaker-rate/limit-changes", test_limit_changes);
  g_test_add_func ("/turn/speaker-rate/bounded", test_bounded);
  return g_test_run ();
}
