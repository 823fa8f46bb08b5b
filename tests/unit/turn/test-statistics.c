/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/statistics.h"

static const SbxOutcome replied = { .kind = SBX_OUTCOME_REPLIED, .ok = TRUE };
static const SbxOutcome down = { .kind = SBX_OUTCOME_FAILED, .failure = SBX_FAILURE_DOCKER_DOWN };

static void
test_sums (void)
{
  g_autoptr (SbxStatistics) statistics = sbx_statistics_new ();
  const SbxTurnUsage one = { .phase_usec = { 1000, 2000, 3000 }, .calls = 2, .prompt_tokens = 10 };
  const SbxTurnUsage two = { .phase_usec = { 5000, 1000, 0 }, .calls = 1, .calls_refused = 1 };
  const SbxSums *sums;

  sbx_statistics_add (statistics, "a:1", &replied, &one);
  sbx_statistics_add (statistics, "a:2", &down, &two);
  sbx_statistics_add_finishing (statistics, "a:2", 4000);

  sums = sbx_statistics_get (statistics, NULL);
  g_assert_cmpuint (sums->outcomes[SBX_OUTCOME_REPLIED], ==, 1);
  g_assert_cmpuint (sums->outcomes[SBX_OUTCOME_FAILED], ==, 1);
  g_assert_cmpuint (sums->failures[SBX_FAILURE_DOCKER_DOWN], ==, 1);
  g_assert_cmpuint (sums->failures[SBX_FAILURE_NONE], ==, 0);
  g_assert_cmpuint (sums->sum.calls, ==, 3);
  g_assert_cmpuint (sums->sum.calls_refused, ==, 1);
  g_assert_cmpuint (sums->sum.prompt_tokens, ==, 10);
  g_assert_cmpint (sums->sum.phase_usec[SBX_TURN_STATE_QUEUED], ==, 6000);
  g_assert_cmpint (sums->longest_usec[SBX_TURN_STATE_QUEUED], ==, 5000);
  g_assert_cmpint (sums->sum.phase_usec[SBX_TURN_STATE_FINISHING], ==, 4000);

  sums = sbx_statistics_get (statistics, "a:1");
  g_assert_cmpuint (sums->outcomes[SBX_OUTCOME_REPLIED], ==, 1);
  g_assert_cmpuint (sums->outcomes[SBX_OUTCOME_FAILED], ==, 0);
  g_assert_cmpuint (sums->sum.calls, ==, 2);
  g_assert_null (sbx_statistics_get (statistics, "a:3"));
}

/* The channel that was quiet for longest goes; what it had stays in the sums over all. */
static void
test_bound (void)
{
  g_autoptr (SbxStatistics) statistics = sbx_statistics_new ();
  const SbxTurnUsage usage = { .calls = 1 };
  g_autoptr (GPtrArray) channels = NULL;

  for (guint i = 0; i < SBX_STATISTICS_MAX_CHANNELS; i++)
    {
      g_autofree char *channel = g_strdup_printf ("a:%u", i);

      sbx_statistics_add (statistics, channel, &replied, &usage);
    }
  sbx_statistics_add (statistics, "a:0", &replied, &usage);
  sbx_statistics_add (statistics, "a:new", &replied, &usage);
  channels = sbx_statistics_channels (statistics);
  g_assert_cmpuint (channels->len, ==, SBX_STATISTICS_MAX_CHANNELS);
  g_assert_cmpstr (channels->pdata[0], ==, "a:0");
  g_assert_nonnull (sbx_statistics_get (statistics, "a:0"));
  g_assert_null (sbx_statistics_get (statistics, "a:1"));
  g_assert_nonnull (sbx_statistics_get (statistics, "a:new"));
  g_assert_cmpuint (sbx_statistics_get (statistics, NULL)->sum.calls, ==, SBX_STATISTICS_MAX_CHANNELS + 2);
}

static void
test_purge (void)
{
  g_autoptr (SbxStatistics) statistics = sbx_statistics_new ();
  const SbxTurnUsage usage = { .calls = 1 };

  sbx_statistics_add (statistics, "a:1", &replied, &usage);
  sbx_statistics_purge (statistics, "a:1");
  sbx_statistics_purge (statistics, "a:2");
  g_assert_null (sbx_statistics_get (statistics, "a:1"));
  /* Its last turn may still be on its way out. */
  sbx_statistics_add_finishing (statistics, "a:1", 1);
  g_assert_null (sbx_statistics_get (statistics, "a:1"));
  g_assert_cmpuint (sbx_statistics_get (statistics, NULL)->sum.calls, ==, 1);
}

static void
test_usage (void)
{
  SbxTurnUsage usage = { .phase_usec = { 1500, 2500, 3500 } };
  const SbxControlAudit calls[] = {
    { .status = 200, .request_bytes = 10, .answer_bytes = 20, .prompt_tokens = 3, .completion_tokens = 4 },
    { .status = 400, .request_bytes = 1, .omitted = 5 },
  };
  g_auto (GStrv) fields = NULL;
  g_autofree char *text = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (calls); i++)
    sbx_turn_usage_add_call (&usage, &calls[i]);
  fields = sbx_turn_usage_to_fields (&usage);
  text = g_strjoinv (" ", fields);
  g_assert_cmpstr (
    text, ==,
    "SANDBOX_QUEUED_MSEC 1 SANDBOX_PREPARING_MSEC 2 SANDBOX_RUNNING_MSEC 3 SANDBOX_TOTAL_MSEC 5 "
    "SANDBOX_CALLS 7 SANDBOX_CALLS_REFUSED 6 SANDBOX_REQUEST_BYTES 11 SANDBOX_ANSWER_BYTES 20 "
    "SANDBOX_PROMPT_TOKENS 3 SANDBOX_ANSWER_TOKENS 4");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/statistics/sums", test_sums);
  g_test_add_func ("/statistics/bound", test_bound);
  g_test_add_func ("/statistics/purge", test_purge);
  g_test_add_func ("/statistics/usage", test_usage);
  return g_test_run ();
}
