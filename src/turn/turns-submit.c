/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>

#include "base/log.h"
#include "bus/errors.h"
#include "turn/disk.h"
#include "turn/turns-private.h"

static gboolean
check_room (SbxTurns *self, const SbxTurnRequest *request, const char **ret_reason, GError **error)
{
  const SbxConfig *config = self->context->settings->config;
  gint64 wait_usec =
    sbx_speaker_rate_wait_usec (self->rate, request->channel, request->speaker_id, g_get_monotonic_time ());

  if (sbx_disk_is_low (self->context->workspaces_root, config->min_free_bytes))
    {
      *ret_reason = "disk-low";
      g_set_error_literal (error, SBX_FAILURE_ERROR, SBX_FAILURE_DISK_LOW,
                           sbx_failure_text (SBX_FAILURE_DISK_LOW));
      return FALSE;
    }
  if (wait_usec > 0)
    {
      *ret_reason = "rate-limited";
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_RATE_LIMITED,
                   "The speaker has had %" G_GUINT64_FORMAT
                   " turns in the time of SpeakerTurns=; try again in %" G_GINT64_FORMAT " s",
                   config->speaker_turns, (wait_usec + G_USEC_PER_SEC - 1) / G_USEC_PER_SEC);
      return FALSE;
    }
  if (sbx_queue_n_waiting (self->queue) >= SBX_TURNS_MAX_WAITING)
    {
      *ret_reason = "too-busy";
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_TOO_BUSY, "%u turns wait already, over all channels",
                   SBX_TURNS_MAX_WAITING);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_request (SbxTurns *self, const SbxTurnRequest *request, const char **ret_reason, GError **error)
{
  gsize n_id = request->message_id != NULL ? strlen (request->message_id) : 1;

  *ret_reason = "invalid-option";
  if (n_id < 1 || n_id > SBX_MAX_MESSAGE_ID_BYTES)
    {
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_INVALID_OPTION,
                   "A message-id is a text of 1 to %u bytes", SBX_MAX_MESSAGE_ID_BYTES);
      return FALSE;
    }
  if (request->deadline_msec != 0
      && (request->deadline_msec < SBX_MIN_DEADLINE_MSEC || request->deadline_msec > SBX_MAX_DEADLINE_MSEC))
    {
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_INVALID_OPTION, "A deadline is %u to %u seconds",
                   SBX_MIN_DEADLINE_MSEC / 1000, SBX_MAX_DEADLINE_MSEC / 1000);
      return FALSE;
    }
  *ret_reason = "not-sandboxed";
  if (!sbx_channel_store_has (self->channels, request->channel))
    {
      g_set_error_literal (error, SBX_BUS_ERROR, SBX_BUS_ERROR_NOT_SANDBOXED,
                           "The channel is not sandboxed; switch it on first");
      return FALSE;
    }
  return check_room (self, request, ret_reason, error);
}

static SbxTurn *
take (SbxTurns *self, const SbxTurnRequest *request, const char **ret_reason, GError **error)
{
  g_autofree char *id = NULL;
  g_autoptr (GError) write_error = NULL;
  SbxTurnEntry *entry;

  if (!check_request (self, request, ret_reason, error))
    return NULL;
  id = sbx_turn_make_id ();
  /* Never the same twice: it is the order in which turns come back after a restart. */
  self->last_accepted_usec = MAX (g_get_real_time (), self->last_accepted_usec + 1);
  entry = sbx_turns_add (self, id, request, self->last_accepted_usec);
  if (entry == NULL)
    {
      *ret_reason = "queue-full";
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_QUEUE_FULL,
                   "%" G_GUINT64_FORMAT " turns wait in this channel already (MaxQueued= in sandboxd.conf)",
                   self->context->settings->config->max_queued);
      return NULL;
    }
  if (!sbx_record_store_accept (self->context->records, id, request, self->last_accepted_usec, &write_error))
    {
      sbx_turns_take_out (self, entry);
      *ret_reason = "state-not-written";
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_STATE_NOT_WRITTEN, "The turn cannot be recorded: %s",
                   write_error->message);
      return NULL;
    }
  sbx_speaker_rate_count (self->rate, request->channel, request->speaker_id, g_get_monotonic_time ());
  return entry->turn;
}

char *
sbx_turns_submit (SbxTurns *self, const SbxTurnRequest *request, gboolean *ret_known, GError **error)
{
  const char *known = NULL, *reason = NULL;
  g_autoptr (GError) local_error = NULL;
  SbxTurn *turn;

  if (ret_known != NULL)
    *ret_known = FALSE;
  if (self->stopping)
    {
      g_set_error_literal (error, SBX_BUS_ERROR, SBX_BUS_ERROR_SHUTTING_DOWN, "The service is being stopped");
      return NULL;
    }
  if (request->message_id != NULL)
    known = sbx_turns_find_message (self, request->uid, request->channel, request->message_id);
  if (known != NULL)
    {
      if (ret_known != NULL)
        *ret_known = TRUE;
      return g_strdup (known);
    }
  turn = take (self, request, &reason, &local_error);
  if (turn == NULL)
    {
      self->n_not_taken++;
      sbx_log_event (SBX_LOG_ID_TURN_REFUSED, LOG_NOTICE,
                     &(SbxLogFields){ .channel = request->channel,
                                      .speaker = request->speaker_id,
                                      .principal = request->principal,
                                      .reason = reason },
                     "A turn in %s was not taken: %s", request->channel, local_error->message);
      g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }
  sbx_log_event (SBX_LOG_ID_TURN_ACCEPTED, LOG_INFO,
                 &(SbxLogFields){ .turn = sbx_turn_id (turn),
                                  .channel = request->channel,
                                  .speaker = request->speaker_id,
                                  .principal = request->principal },
                 "Turn %s in %s was accepted", sbx_turn_id (turn), request->channel);
  if (self->events->turn_added != NULL)
    self->events->turn_added (turn, self->user_data);
  sbx_turns_pump_soon (self);
  return g_strdup (sbx_turn_id (turn));
}

/* --- what an earlier daemon left --- */

static void
end_restarted (SbxTurns *self, const SbxUnfinished *unfinished)
{
  const SbxOutcome outcome = { .kind = SBX_OUTCOME_FAILED, .failure = SBX_FAILURE_RESTARTED };

  sbx_record_store_finish (self->context->records, unfinished->turn, &unfinished->request,
                           unfinished->accepted_usec, &outcome);
  sbx_log_event (SBX_LOG_ID_TURN_FINISHED, LOG_WARNING,
                 &(SbxLogFields){ .turn = unfinished->turn,
                                  .channel = unfinished->request.channel,
                                  .outcome = sbx_outcome_name (outcome.kind),
                                  .reason = sbx_failure_name (outcome.failure) },
                 "Turn %s in %s ended without a reply (%s): %s", unfinished->turn,
                 unfinished->request.channel, sbx_failure_name (outcome.failure),
                 sbx_failure_text (outcome.failure));
}

void
sbx_turns_restore (SbxTurns *self)
{
  g_autoptr (GPtrArray) unfinished = sbx_record_store_take_unfinished (self->context->records);

  self->paused = TRUE;
  for (guint i = 0; i < unfinished->len; i++)
    {
      const SbxUnfinished *turn = unfinished->pdata[i];
      const SbxTurnEntry *entry = NULL;

      self->last_accepted_usec = MAX (self->last_accepted_usec, turn->accepted_usec);
      if (!turn->started && turn->whole)
        entry = sbx_turns_add (self, turn->turn, &turn->request, turn->accepted_usec);
      if (entry == NULL)
        {
          end_restarted (self, turn);
          continue;
        }
      sbx_log (LOG_INFO, &(SbxLogFields){ .turn = turn->turn, .channel = turn->request.channel },
               "Turn %s in %s was accepted before the restart and waits again", turn->turn,
               turn->request.channel);
      if (self->events->turn_added != NULL)
        self->events->turn_added (entry->turn, self->user_data);
    }
}

void
sbx_turns_go (SbxTurns *self)
{
  self->paused = FALSE;
  sbx_turns_pump_soon (self);
}
