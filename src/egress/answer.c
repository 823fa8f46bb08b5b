/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/answer.h"

#include "base/json-member.h"
#include "base/json-tree.h"
#include "wire/bounds.h"

static guint32
read_count (JsonObject *usage, const char *name)
{
  gint64 count = 0;

  (void) sbx_json_member_integer (usage, name, &count);
  return (guint32) CLAMP (count, 0, (gint64) G_MAXUINT32);
}

static void
read_usage (JsonNode *node, SbxAnswer *answer)
{
  JsonObject *usage = sbx_json_member_object (sbx_json_node_object (node), "usage");

  answer->prompt_tokens = read_count (usage, "prompt_tokens");
  answer->completion_tokens = read_count (usage, "completion_tokens");
}

SbxFailure
sbx_answer_from_node (JsonNode *node, const SbxReflection *reflection, SbxAnswer *ret_answer)
{
  g_autoptr (GString) text = NULL;
  SbxAnswer answer = { 0 };

  if (sbx_reflection_finds_in_node (reflection, node))
    return SBX_FAILURE_KEY_REFLECTED;
  text = g_string_new (NULL);
  sbx_json_write_node (text, node);
  if (text->len > SBX_MAX_ANSWER_BYTES)
    return SBX_FAILURE_MODEL_ANSWER;
  read_usage (node, &answer);
  answer.json = g_string_free_to_bytes (g_steal_pointer (&text));
  *ret_answer = answer;
  return SBX_FAILURE_NONE;
}

SbxFailure
sbx_answer_read (const char *data, gsize n_bytes, const SbxReflection *reflection, SbxAnswer *ret_answer)
{
  g_autoptr (JsonNode) node = sbx_json_read_last_counts (data, n_bytes, SBX_MAX_ANSWER_BYTES, NULL);

  return node != NULL ? sbx_answer_from_node (node, reflection, ret_answer) : SBX_FAILURE_MODEL_ANSWER;
}
