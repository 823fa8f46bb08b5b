/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-private.h"

#include "base/log.h"
#include "wire/reply.h"

static void
log_set_aside (const SbxTurn *self, const char *name)
{
  const char *const more[] = { "SANDBOX_FILE", name, NULL };
  const SbxLogFields fields = {
    .turn = self->id, .channel = self->request.channel, .reason = "store-unreadable", .more = more
  };

  sbx_log_event (SBX_LOG_ID_STORE_SET_ASIDE, LOG_WARNING, &fields,
                 "The %s of %s could not be read; turn %s set it aside as %s.corrupt-TIME in %s", name,
                 self->request.channel, self->id, name, sbx_sandbox_workspace (self->sandbox));
}

static void
log_compaction (const SbxTurn *self)
{
  const SbxControlReply *reply = &self->reply;
  g_autofree char *tokens = g_strdup_printf ("%u", reply->compaction_tokens_before);
  const char *by = sbx_reply_compaction_name (reply->compaction);
  const char *reason = sbx_reply_reason_name (reply->compaction_reason);
  const char *const more[] = { "SANDBOX_COMPACTION", by, "SANDBOX_TOKENS_BEFORE", tokens, NULL };
  const SbxLogFields fields = {
    .turn = self->id, .channel = self->request.channel, .reason = reason, .more = more
  };
  /* Without a compactor of the operator's, the model is no fallback. */
  gboolean as_meant =
    reply->compaction_reason == 0
    || (reply->compaction == SBX_COMPACTION_BY_MODEL && g_str_equal (reason, "no-compactor"));

  if (as_meant)
    sbx_log_event (SBX_LOG_ID_COMPACTION, LOG_INFO, &fields,
                   "Turn %s made the history of %s shorter (%s); it had about %s tokens", self->id,
                   self->request.channel, by, tokens);
  else
    sbx_log_event (
      SBX_LOG_ID_COMPACTION_FALLBACK, LOG_WARNING, &fields,
      "Turn %s could not shorten the history of %s as it should (%s), so it was %s; it had about "
      "%s tokens",
      self->id, self->request.channel, reason,
      reply->compaction == SBX_COMPACTION_DROPPED ? "cut" : "summarised by the model", tokens);
}

void
sbx_turn_log_notes (const SbxTurn *self)
{
  if ((self->reply.set_aside & SBX_SET_ASIDE_MEMORY) != 0)
    log_set_aside (self, "memory.json");
  if ((self->reply.set_aside & SBX_SET_ASIDE_HISTORY) != 0)
    log_set_aside (self, "history.json");
  if (self->reply.compaction != SBX_COMPACTION_NONE)
    log_compaction (self);
}
