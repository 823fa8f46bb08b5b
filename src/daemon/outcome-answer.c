/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/outcome-answer.h"

#include "base/text.h"
#include "daemon/defang.h"
#include "daemon/split-reply.h"

/* What a guest may be shown where there is no reply: the same for every cause. */
#define GUEST_NO_ANSWER "Sorry, I did not come to an answer."
#define GUEST_FAILED    "Sorry, something went wrong. Please try again later."

static int
append_text (sd_bus_message *message, const char *name, const char *value)
{
  return sd_bus_message_append (message, "{sv}", name, "s", value);
}

static int
append_parts (sd_bus_message *message, const char *text, const SbxTurnOptions *options)
{
  g_auto (GStrv) parts = sbx_split_reply (text, options->chunk_units);
  int r = sd_bus_message_open_container (message, 'e', "sv");

  for (gsize i = 0; !options->live_links && parts[i] != NULL; i++)
    sbx_defang_part (parts[i]);
  if (r < 0 || (r = sd_bus_message_append (message, "s", "parts")) < 0
      || (r = sd_bus_message_open_container (message, 'v', "as")) < 0
      || (r = sd_bus_message_append_strv (message, parts)) < 0
      || (r = sd_bus_message_close_container (message)) < 0)
    return r;
  return sd_bus_message_close_container (message);
}

static const char *
guest_text_of (const SbxOutcome *outcome, const char *text)
{
  if (outcome == NULL || outcome->kind != SBX_OUTCOME_REPLIED)
    return GUEST_FAILED;
  return outcome->ok ? text : GUEST_NO_ANSWER;
}

int
sbx_outcome_append (sd_bus_message *message, const char *turn, const SbxOutcome *outcome,
                    const SbxTurnOptions *options)
{
  gboolean replied = outcome != NULL && outcome->kind == SBX_OUTCOME_REPLIED;
  g_autofree char *text = replied ? sbx_text_plain (outcome->text) : g_strdup ("");
  g_autofree char *safe = options->live_links ? g_strdup (text) : sbx_defang (text);
  const char *guest_text = guest_text_of (outcome, safe);
  SbxFailure failure = outcome != NULL ? outcome->failure : SBX_FAILURE_NONE;
  int r = sd_bus_message_open_container (message, 'a', "{sv}");

  if (r < 0 || (r = append_text (message, "turn", turn)) < 0
      || (r = append_text (message, "outcome", outcome != NULL ? sbx_outcome_name (outcome->kind) : "")) < 0
      || (r = sd_bus_message_append (message, "{sv}", "ok", "b", replied && outcome->ok)) < 0
      || (r = append_text (message, "text", text)) < 0
      || (r = append_text (message, "guest-text", guest_text)) < 0
      || (r = append_text (message, "mentions", "none")) < 0)
    return r;
  if (failure != SBX_FAILURE_NONE
      && ((r = append_text (message, "reason", sbx_failure_name (failure))) < 0
          || (r = append_text (message, "explanation", sbx_failure_text (failure))) < 0))
    return r;
  if (options->chunk_units != 0 && (r = append_parts (message, guest_text, options)) < 0)
    return r;
  return sd_bus_message_close_container (message);
}
