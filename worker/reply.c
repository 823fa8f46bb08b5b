/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "reply.h"

#include "base/json-write.h"

#define FAILED_TEXT "Something went wrong, and there is no answer this time."
#define SPENT_TEXT  "This took more steps than one turn has; please ask for a smaller part of it."

static const char *const reasons[] = {
  [SBX_REPLY_FINE] = NULL,
  [SBX_REPLY_INPUT] = "turn-invalid",
  [SBX_REPLY_STORE_UNREADABLE] = "store-unreadable",
  [SBX_REPLY_DISK_FULL] = "disk-full",
  [SBX_REPLY_STORE_FAILED] = "store-failed",
  [SBX_REPLY_TOO_LARGE] = "request-too-large",
  [SBX_REPLY_MODEL_FAILED] = "model-failed",
  [SBX_REPLY_MODEL_ANSWER] = "model-answer",
  [SBX_REPLY_EMPTY] = "empty-answer",
  [SBX_REPLY_CALLS_SPENT] = "calls-spent",
};

static const char *const compactions[] = {
  "none",         "no-compactor",  "compactor-failed", "compactor-timeout", "compactor-invalid",
  "model-failed", "model-invalid", "no-calls",         "no-time",
};

G_STATIC_ASSERT (G_N_ELEMENTS (reasons) == _SBX_REPLY_LAST + 1);
G_STATIC_ASSERT (G_N_ELEMENTS (compactions) == _SBX_COMPACTION_REASON_LAST + 1);

SbxReply *
sbx_reply_new (void)
{
  SbxReply *self = g_new0 (SbxReply, 1);

  self->set_aside = g_ptr_array_new ();
  return self;
}

void
sbx_reply_free (SbxReply *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->set_aside);
  g_free (self->text);
  g_free (self);
}

const char *
sbx_reply_failure_name (SbxReplyReason reason)
{
  return reasons[reason];
}

int
sbx_reply_exit_status (const SbxReply *self)
{
  return self->reason == SBX_REPLY_FINE || self->reason == SBX_REPLY_CALLS_SPENT ? 0 : 1;
}

static void
write_extended (const SbxReply *self, GString *json)
{
  if (self->reason != SBX_REPLY_FINE)
    g_string_append_printf (json, ",\"reason\":\"%s\"", reasons[self->reason]);
  for (guint i = 0; i < self->set_aside->len; i++)
    {
      g_string_append (json, i == 0 ? ",\"set_aside\":[" : ",");
      sbx_json_write_text (json, self->set_aside->pdata[i], -1);
    }
  if (self->set_aside->len > 0)
    g_string_append_c (json, ']');
  if (self->compaction_by != NULL)
    g_string_append_printf (
      json, ",\"compaction\":{\"by\":\"%s\",\"reason\":\"%s\",\"tokens_before\":%" G_GUINT64_FORMAT "}",
      self->compaction_by, compactions[self->compaction], self->tokens_before);
}

GString *
sbx_reply_write (const SbxReply *self)
{
  GString *json = g_string_new (NULL);
  const char *text = self->text;

  if (self->reason != SBX_REPLY_FINE)
    text = self->reason == SBX_REPLY_CALLS_SPENT ? SPENT_TEXT : FAILED_TEXT;
  g_string_append_printf (json, "{\"ok\":%s,\"text\":", self->reason == SBX_REPLY_FINE ? "true" : "false");
  sbx_json_write_text (json, text, -1);
  if (self->extended)
    write_extended (self, json);
  g_string_append (json, "}\n");
  return json;
}
