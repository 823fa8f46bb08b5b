/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>

#include "base/source.h"
#include "bus/errors.h"
#include "turn/turns-private.h"

struct _SbxTurnWait {
  SbxTurns *turns;
  char *id;
  SbxTurnTold told;
  gpointer user_data;
  GSource *source; /* of one that asked after the outcome */
};

static void
wait_free (SbxTurnWait *self)
{
  g_ptr_array_remove_fast (self->turns->waits, self);
  sbx_source_clear (&self->source);
  g_free (self->id);
  g_free (self);
}

void
sbx_turn_wait_cancel (SbxTurnWait *self)
{
  if (self != NULL)
    wait_free (self);
}

static void
wait_tell (SbxTurnWait *self, const SbxOutcome *outcome)
{
  SbxTurnTold told = self->told;
  gpointer user_data = self->user_data;
  g_autofree char *id = g_strdup (self->id);

  wait_free (self);
  told (id, outcome, user_data);
}

void
sbx_turns_tell (SbxTurns *self, const char *id, const SbxOutcome *outcome)
{
  guint i = 0;

  /* Whoever is told may give up another wait, so it is looked for anew each time. */
  while (i < self->waits->len)
    {
      SbxTurnWait *wait = self->waits->pdata[i];

      if (wait->source != NULL || strcmp (wait->id, id) != 0)
        {
          i++;
          continue;
        }
      wait_tell (wait, outcome);
      i = 0;
    }
}

static gboolean
on_told_late (gpointer user_data)
{
  SbxTurnWait *self = user_data;
  SbxRecordStore *records = self->turns->context->records;
  const SbxRecord *record = sbx_record_store_find (records, self->id);
  SbxOutcome outcome = { .kind = SBX_OUTCOME_FAILED, .failure = SBX_FAILURE_INTERNAL };

  if (record != NULL)
    outcome = (SbxOutcome){ .kind = record->kind,
                            .failure = record->failure,
                            .ok = record->ok,
                            .text = sbx_record_store_text (records, record) };
  /* It replied, but the reply is lost. */
  if (outcome.kind == SBX_OUTCOME_REPLIED && outcome.text == NULL)
    outcome = (SbxOutcome){ .kind = SBX_OUTCOME_FAILED, .failure = SBX_FAILURE_INTERNAL };
  wait_tell (self, &outcome);
  sbx_outcome_clear (&outcome);
  return G_SOURCE_REMOVE;
}

static guint
count_waits (SbxTurns *self, const char *id)
{
  guint n = 0;

  for (guint i = 0; i < self->waits->len; i++)
    n += strcmp (((SbxTurnWait *) self->waits->pdata[i])->id, id) == 0;
  return n;
}

SbxTurnWait *
sbx_turns_wait (SbxTurns *self, const char *id, SbxTurnTold told, gpointer user_data, GError **error)
{
  gboolean over = sbx_record_store_find (self->context->records, id) != NULL;
  SbxTurnWait *wait;

  if (!over && sbx_turns_find (self, id) == NULL)
    {
      g_set_error_literal (error, SBX_BUS_ERROR, SBX_BUS_ERROR_NO_SUCH_TURN,
                           "There is no such turn; outcomes are kept for an hour");
      return NULL;
    }
  if (count_waits (self, id) >= SBX_TURNS_MAX_WAITS)
    {
      g_set_error (error, SBX_BUS_ERROR, SBX_BUS_ERROR_TOO_BUSY, "%u callers wait for this turn already",
                   SBX_TURNS_MAX_WAITS);
      return NULL;
    }
  wait = g_new0 (SbxTurnWait, 1);
  wait->turns = self;
  wait->id = g_strdup (id);
  wait->told = told;
  wait->user_data = user_data;
  g_ptr_array_add (self->waits, wait);
  if (over)
    {
      wait->source = sbx_source_soon (on_told_late, wait);
    }
  return wait;
}

const SbxRecord *
sbx_turns_record (SbxTurns *self, const char *id)
{
  return sbx_record_store_find (self->context->records, id);
}

const char *
sbx_turns_find_message (SbxTurns *self, guint32 uid, const char *channel, const char *message_id)
{
  g_autofree char *key = sbx_record_message_key (uid, channel, message_id);
  const char *id = g_hash_table_lookup (self->messages, key);
  const SbxRecord *record;

  if (id != NULL)
    return id;
  record = sbx_record_store_find_message (self->context->records, uid, channel, message_id);
  return record != NULL ? record->turn : NULL;
}

gboolean
sbx_turns_uid_of (SbxTurns *self, const char *id, guint32 *ret_uid)
{
  const SbxTurn *turn = sbx_turns_find (self, id);
  const SbxRecord *record = turn == NULL ? sbx_turns_record (self, id) : NULL;

  if (turn == NULL && record == NULL)
    return FALSE;
  *ret_uid = turn != NULL ? sbx_turn_uid (turn) : record->uid;
  return TRUE;
}

const char *
sbx_turns_channel_of (SbxTurns *self, const char *id)
{
  const SbxTurn *turn = sbx_turns_find (self, id);
  const SbxRecord *record = turn == NULL ? sbx_turns_record (self, id) : NULL;

  if (turn != NULL)
    return sbx_turn_channel (turn);
  return record != NULL ? record->channel : NULL;
}
