/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/reply.h"

#include <json-glib/json-glib.h>

#include "base/json-tree.h"
#include "base/utf16.h"
#include "wire/reply.h"

/* The member as a node of that type, or NULL. */
static JsonNode *
member (JsonObject *object, const char *name, GType type)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type ? node
                                                                                                 : NULL;
}

static void
read_compaction (JsonObject *root, SbxControlReply *reply)
{
  JsonNode *node = json_object_get_member (root, "compaction");
  JsonNode *by;
  JsonNode *reason;
  JsonNode *tokens;
  JsonObject *object;

  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    return;
  object = json_node_get_object (node);
  by = member (object, "by", G_TYPE_STRING);
  reason = member (object, "reason", G_TYPE_STRING);
  tokens = member (object, "tokens_before", G_TYPE_INT64);
  if (by == NULL || !sbx_reply_compaction_from_name (json_node_get_string (by), &reply->compaction))
    return;
  if (reason != NULL)
    (void) sbx_reply_reason_from_name (json_node_get_string (reason), &reply->compaction_reason);
  if (tokens != NULL)
    reply->compaction_tokens_before = (guint32) CLAMP (json_node_get_int (tokens), 0, (gint64) G_MAXUINT32);
}

/* A word or name that is not known says nothing; none of this decides whether the reply counts. */
static void
read_store_words (JsonObject *root, SbxControlReply *reply)
{
  JsonNode *reason = member (root, "reason", G_TYPE_STRING);
  JsonNode *node = json_object_get_member (root, "set_aside");
  JsonArray *names = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (reason != NULL && !reply->ok)
    reply->failure = sbx_reply_failure_from_name (json_node_get_string (reason));
  for (guint i = 0; names != NULL && i < json_array_get_length (names); i++)
    {
      JsonNode *name = json_array_get_element (names, i);

      if (JSON_NODE_HOLDS_VALUE (name) && json_node_get_value_type (name) == G_TYPE_STRING)
        reply->set_aside |= sbx_reply_set_aside_from_name (json_node_get_string (name));
    }
}

SbxFailure
sbx_reply_read (const char *data, gsize n_bytes, SbxControlReply *ret_reply)
{
  g_autoptr (JsonNode) root = sbx_json_read (data, n_bytes, SBX_MAX_STDOUT_BYTES, NULL);
  g_auto (SbxControlReply) reply = { 0 };
  JsonObject *object;
  JsonNode *ok;
  JsonNode *text;

  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    return SBX_FAILURE_REPLY_INVALID;
  object = json_node_get_object (root);
  ok = member (object, "ok", G_TYPE_BOOLEAN);
  text = member (object, "text", G_TYPE_STRING);
  if (ok == NULL || text == NULL)
    return SBX_FAILURE_REPLY_INVALID;
  if (sbx_utf16_units (json_node_get_string (text)) > SBX_MAX_REPLY_UNITS)
    return SBX_FAILURE_REPLY_TOO_LARGE;
  reply.ok = json_node_get_boolean (ok);
  reply.text = g_strdup (json_node_get_string (text));
  read_compaction (object, &reply);
  read_store_words (object, &reply);
  *ret_reply = reply;
  reply.text = NULL;
  return SBX_FAILURE_NONE;
}
