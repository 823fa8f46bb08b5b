/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* GetStatistics: what turns took and how they ended, over all or in one channel. */
#include "daemon/manager-private.h"

#include "bus/bus-auto.h"

/* A dictionary's value of type contents, begun and ended around what is in it. The first error of a message
 * sticks, so that callers look at the last one only. */
static int
open_member (sd_bus_message *reply, const char *name, const char *contents)
{
  int r = sd_bus_message_open_container (reply, 'e', "sv");

  if (r >= 0)
    r = sd_bus_message_append (reply, "s", name);
  if (r >= 0)
    r = sd_bus_message_open_container (reply, 'v', contents);
  return r < 0 ? r : sd_bus_message_open_container (reply, 'a', contents + 1);
}

static int
close_member (sd_bus_message *reply)
{
  int r = sd_bus_message_close_container (reply);

  if (r >= 0)
    r = sd_bus_message_close_container (reply);
  return r < 0 ? r : sd_bus_message_close_container (reply);
}

static int
append_outcomes (sd_bus_message *reply, const SbxSums *sums)
{
  int r = open_member (reply, "outcomes", "a{st}");

  for (guint i = SBX_OUTCOME_NONE + 1; r >= 0 && i <= _SBX_OUTCOME_LAST; i++)
    r = sd_bus_message_append (reply, "{st}", sbx_outcome_name ((SbxOutcomeKind) i), sums->outcomes[i]);
  return r < 0 ? r : close_member (reply);
}

static int
append_reasons (sd_bus_message *reply, const SbxSums *sums)
{
  int r = open_member (reply, "reasons", "a{st}");

  for (guint i = SBX_FAILURE_NONE + 1; r >= 0 && i <= _SBX_FAILURE_LAST; i++)
    if (sums->failures[i] > 0)
      r = sd_bus_message_append (reply, "{st}", sbx_failure_name ((SbxFailure) i),
                                 (uint64_t) sums->failures[i]);
  return r < 0 ? r : close_member (reply);
}

static int
append_phases (sd_bus_message *reply, const SbxSums *sums)
{
  int r = open_member (reply, "phases", "a{sa{st}}");

  for (guint i = 0; r >= 0 && i < SBX_TURN_N_PHASES; i++)
    r = sd_bus_message_append (reply, "{sa{st}}", sbx_turn_state_name ((SbxTurnState) i), 2, "sum-msec",
                               (uint64_t) (sums->sum.phase_usec[i] / 1000), "longest-msec",
                               (uint64_t) (sums->longest_usec[i] / 1000));
  return r < 0 ? r : close_member (reply);
}

static int
append_sums (sd_bus_message *reply, const SbxSums *sums)
{
  const SbxTurnUsage *sum = &sums->sum;
  int r;

  if ((r = append_outcomes (reply, sums)) < 0 || (r = append_reasons (reply, sums)) < 0
      || (r = append_phases (reply, sums)) < 0)
    return r;
  if ((r = sd_bus_message_append (reply, "{sv}", "calls", "t", sum->calls)) < 0
      || (r = sd_bus_message_append (reply, "{sv}", "calls-refused", "t", sum->calls_refused)) < 0
      || (r = sd_bus_message_append (reply, "{sv}", "request-bytes", "t", sum->request_bytes)) < 0
      || (r = sd_bus_message_append (reply, "{sv}", "answer-bytes", "t", sum->answer_bytes)) < 0
      || (r = sd_bus_message_append (reply, "{sv}", "prompt-tokens", "t", sum->prompt_tokens)) < 0)
    return r;
  return sd_bus_message_append (reply, "{sv}", "answer-tokens", "t", sum->answer_tokens);
}

/* What only the whole has. */
static int
append_whole (sd_bus_message *reply, SbxTurns *turns)
{
  g_autoptr (GPtrArray) channels = sbx_statistics_channels (sbx_turns_statistics (turns));
  int r = sd_bus_message_append (reply, "{sv}", "not-taken", "t", sbx_turns_n_not_taken (turns));

  if (r >= 0)
    r = open_member (reply, "channels", "as");
  for (guint i = 0; r >= 0 && i < channels->len; i++)
    r = sd_bus_message_append (reply, "s", channels->pdata[i]);
  return r < 0 ? r : close_member (reply);
}

static int
append_statistics (sd_bus_message *reply, SbxTurns *turns, const char *channel)
{
  static const SbxSums nothing = { 0 };
  const SbxSums *sums = sbx_statistics_get (sbx_turns_statistics (turns), channel);
  int r = sd_bus_message_open_container (reply, 'a', "{sv}");

  if (r >= 0)
    r = append_sums (reply, sums != NULL ? sums : &nothing);
  if (r >= 0 && channel == NULL)
    r = append_whole (reply, turns);
  return r < 0 ? r : sd_bus_message_close_container (reply);
}

static void
statistics_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  g_autoptr (sd_bus_message) reply = NULL;
  guint32 uid = 0;
  int r;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  r = sd_bus_message_new_method_return (call->message, &reply);
  if (r >= 0)
    r = append_statistics (reply, sbx_daemon_turns (call->manager->daemon),
                           *call->text != '\0' ? call->text : NULL);
  sbx_manager_send_reply (call->message, reply, r);
}

int
sbx_method_get_statistics (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  const char *channel;
  int r = sd_bus_message_read (message, "s", &channel);

  if (r < 0 || (*channel != '\0' && (r = sbx_manager_check_channel (channel, ret_error)) < 0))
    return r;
  return sbx_manager_ask (user_data, message, SBX_ACTION ("list-turns"), channel, statistics_allowed);
}
