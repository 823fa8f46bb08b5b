/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/reply.h"

#include <json-glib/json-glib.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/utf16.h"
#include "wire/reply.h"

static void
read_compaction (JsonObject *root, SbxControlReply *reply)
{
  JsonObject *object = sbx_json_member_object (root, "compaction");
  const char *by = sbx_json_member_text (object, "by");
  const char *reason = sbx_json_member_text (object, "reason");
  gint64 tokens = 0;

  if (by == NULL || !sbx_reply_compaction_from_name (by, &reply->compaction))
    return;
  if (reason != NULL)
    (void) sbx_reply_reason_from_name (reason, &reply->compaction_reason);
  (void) sbx_json_member_integer (object, "tokens_before", &tokens);
  reply->compaction_tokens_before = (guint32) CLAMP (tokens, 0, (gint64) G_MAXUINT32);
}

/* A word or name that is not known says nothing; none of this decides whether the reply counts. */
static void
read_store_words (JsonObject *root, SbxControlReply *reply)
{
  const char *reason = sbx_json_member_text (root, "reason");
  JsonArray *names = sbx_json_member_list (root, "set_aside");

  if (reason != NULL && !reply->ok)
    reply->failure = sbx_reply_failure_from_name (reason);
  for (guint i = 0; names != NULL && i < json_array_get_length (names); i++)
    {
      const char *name = sbx_json_node_text (json_array_get_element (names, i));

      if (name != NULL)
        reply->set_aside |= sbx_reply_set_aside_from_name (name);
    }
}

SbxFailure
sbx_reply_read (const char *data, gsize n_bytes, SbxControlReply *ret_reply)
{
  g_autoptr (JsonNode) root = sbx_json_read (data, n_bytes, SBX_MAX_STDOUT_BYTES, NULL);
  g_auto (SbxControlReply) reply = { 0 };
  JsonObject *object = sbx_json_node_object (root);
  const char *text = sbx_json_member_text (object, "text");

  if (text == NULL || !sbx_json_member_boolean (object, "ok", &reply.ok))
    return SBX_FAILURE_REPLY_INVALID;
  if (sbx_utf16_units (text) > SBX_MAX_REPLY_UNITS)
    return SBX_FAILURE_REPLY_TOO_LARGE;
  reply.text = g_strdup (text);
  read_compaction (object, &reply);
  read_store_words (object, &reply);
  *ret_reply = reply;
  reply.text = NULL;
  return SBX_FAILURE_NONE;
}
