/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/answer.h"

#include "base/json-tree.h"
#include "wire/bounds.h"

static guint32
read_count (JsonObject *usage, const char *name)
{
  JsonNode *node = json_object_get_member (usage, name);

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64)
    return 0;
  return (guint32) CLAMP (json_node_get_int (node), 0, (gint64) G_MAXUINT32);
}

static void
read_usage (JsonNode *node, SbxAnswer *answer)
{
  JsonNode *usage =
    JSON_NODE_HOLDS_OBJECT (node) ? json_object_get_member (json_node_get_object (node), "usage") : NULL;

  if (usage == NULL || !JSON_NODE_HOLDS_OBJECT (usage))
    return;
  answer->prompt_tokens = read_count (json_node_get_object (usage), "prompt_tokens");
  answer->completion_tokens = read_count (json_node_get_object (usage), "completion_tokens");
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
