/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A turn that is taken can be turned into a first request, which is JSON and within its size. */
#include "fuzz.h"

#include "base/json-gate.h"
#include "base/json-variant.h"
#include "conversation.h"
#include "prompt.h"
#include "toolbox.h"
#include "turn-input.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_autoptr (SbxTurnInput) input = sbx_turn_input_read ((const char *) data, n_bytes, NULL);
  g_autoptr (SbxToolbox) toolbox = input != NULL ? sbx_toolbox_new (input) : NULL;
  g_autoptr (SbxConversation) conversation = NULL;
  g_autoptr (GString) speaker = g_string_new (NULL);
  g_autoptr (GString) request = NULL;
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) now = g_date_time_new (utc, 2026, 11, 29, 12, 0, 0);
  g_autoptr (GTimeZone) zone = NULL;
  g_autofree char *system = NULL;
  g_autofree char *user = NULL;
  gsize n_tools;

  if (toolbox == NULL)
    return 0;
  zone = sbx_prompt_zone (input->time_zone);
  system = sbx_prompt_new (input->prompt, now, "[]", "[]");
  sbx_json_variant_write (speaker, input->speaker);
  user = sbx_prompt_user_text (speaker->str, input->text);
  conversation = sbx_conversation_new (input->model, sbx_toolbox_json (toolbox, &n_tools), system, user);
  g_assert (n_tools <= SBX_TOOLBOX_MAX_BYTES);
  request = sbx_conversation_request (conversation);
  if (request == NULL)
    return 0;
  g_assert (request->len <= SBX_REQUEST_MAX_BYTES);
  g_assert (sbx_json_gate (request->str, request->len, SBX_REQUEST_MAX_BYTES, NULL));
  return 0;
}
