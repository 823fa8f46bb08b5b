/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/usage.h"

void
sbx_turn_usage_add_call (SbxTurnUsage *self, const SbxControlAudit *entry)
{
  self->calls += 1 + (guint64) entry->omitted;
  self->calls_refused += (entry->status != 200 ? 1 : 0) + (guint64) entry->omitted;
  self->request_bytes += entry->request_bytes;
  self->answer_bytes += entry->answer_bytes;
  self->prompt_tokens += entry->prompt_tokens;
  self->answer_tokens += entry->completion_tokens;
}

GStrv
sbx_turn_usage_to_fields (const SbxTurnUsage *self)
{
  gint64 preparing = self->phase_usec[SBX_TURN_STATE_PREPARING] / 1000;
  gint64 running = self->phase_usec[SBX_TURN_STATE_RUNNING] / 1000;
  const struct {
    const char *name;
    guint64 value;
  } fields[] = {
    { "SANDBOX_QUEUED_MSEC", (guint64) self->phase_usec[SBX_TURN_STATE_QUEUED] / 1000 },
    { "SANDBOX_PREPARING_MSEC", (guint64) preparing },
    { "SANDBOX_RUNNING_MSEC", (guint64) running },
    { "SANDBOX_TOTAL_MSEC", (guint64) (preparing + running) },
    { "SANDBOX_CALLS", self->calls },
    { "SANDBOX_CALLS_REFUSED", self->calls_refused },
    { "SANDBOX_REQUEST_BYTES", self->request_bytes },
    { "SANDBOX_ANSWER_BYTES", self->answer_bytes },
    { "SANDBOX_PROMPT_TOKENS", self->prompt_tokens },
    { "SANDBOX_ANSWER_TOKENS", self->answer_tokens },
  };
  GStrv texts = g_new0 (char *, 2 * G_N_ELEMENTS (fields) + 1);

  for (gsize i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      texts[2 * i] = g_strdup (fields[i].name);
      texts[2 * i + 1] = g_strdup_printf ("%" G_GUINT64_FORMAT, fields[i].value);
    }
  return texts;
}
