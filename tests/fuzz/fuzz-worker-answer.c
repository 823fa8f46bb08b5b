/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Whatever a model answers, the assistant message made of it is JSON that the broker's rules take. */
#include "fuzz.h"

#include <string.h>

#include "json-in.h"
#include "model-answer.h"
#include "wire/bounds.h"
#include "wire/model-request.h"

static const char turn[] =
  "{\"text\":\"t\",\"speaker\":{\"id\":\"i\",\"name\":\"n\"},\"model\":\"m\",\"prompt\":\"p\","
  "\"timeZone\":\"UTC\",\"tools\":[{\"name\":\"clock\",\"description\":\"\",\"parameters\":{}}],"
  "\"mcp\":[]}";

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  static const char *const keep[] = { "reasoning_content", NULL };
  g_autoptr (GVariant) root = sbx_json_in_read ((const char *) data, n_bytes, SBX_MAX_ANSWER_BYTES, NULL);
  g_autoptr (SbxTurnInput) input = sbx_turn_input_read (turn, strlen (turn), NULL);
  g_autoptr (SbxToolbox) toolbox = sbx_toolbox_new (input);
  g_autoptr (GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (SbxAnswer) answer = sbx_answer_new (root, toolbox, used, 0, keep);

  if (answer->kind == SBX_ANSWER_FINAL)
    g_assert (*answer->text != '\0' && g_utf8_validate (answer->text, -1, NULL));
  if (answer->kind == SBX_ANSWER_CALLS)
    {
      g_autofree char *list = g_strdup_printf ("[%s]", answer->message);
      g_autoptr (GBytes) messages = g_bytes_new (list, strlen (list));
      g_autoptr (GBytes) normal = NULL;
      g_autoptr (GBytes) tools = NULL;

      g_assert (answer->calls->len <= SBX_ANSWER_MAX_CALLS);
      g_assert (g_hash_table_size (used) == answer->calls->len);
      g_assert (sbx_model_request_read_parts (messages, NULL, keep, &normal, &tools)
                == SBX_MODEL_REQUEST_FINE);
    }
  return 0;
}
