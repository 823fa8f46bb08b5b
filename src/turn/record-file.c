/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/record-file.h"

#include <gio/gio.h>
#include <string.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/json-write.h"
#include "turn/channel-store.h"
#include "wire/bounds.h"

gboolean
sbx_record_file_is_turn (const char *text)
{
  gsize n = strlen (text);

  return n > 0 && n <= SBX_MAX_TURN_ID_BYTES && strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789") == n;
}

/* --- writing --- */

static void
add_name (GString *out, const char *name)
{
  g_string_append_c (out, out->len > 1 ? ',' : '{');
  sbx_json_write_text (out, name, -1);
  g_string_append_c (out, ':');
}

static void
add_text (GString *out, const char *name, const char *value)
{
  if (value == NULL)
    return;
  add_name (out, name);
  sbx_json_write_text (out, value, -1);
}

static void
add_number (GString *out, const char *name, gint64 value)
{
  add_name (out, name);
  g_string_append_printf (out, "%" G_GINT64_FORMAT, value);
}

GString *
sbx_record_file_write_queued (const SbxTurnRequest *request, gint64 accepted_usec)
{
  GString *out = g_string_new (NULL);

  add_text (out, "channel", request->channel);
  add_text (out, "message_id", request->message_id);
  add_number (out, "uid", request->uid);
  add_number (out, "accepted", accepted_usec);
  if (request->detached)
    {
      add_number (out, "deadline_msec", request->deadline_msec);
      add_text (out, "speaker_id", request->speaker_id);
      add_text (out, "speaker_name", request->speaker_name);
      add_text (out, "principal", request->principal);
      add_text (out, "text", request->text);
    }
  g_string_append (out, "}\n");
  return out;
}

GString *
sbx_record_file_write_done (const SbxRecord *record, const char *text)
{
  GString *out = g_string_new (NULL);

  add_text (out, "channel", record->channel);
  add_text (out, "message_id", record->message_id);
  add_number (out, "uid", record->uid);
  add_number (out, "accepted", record->accepted_usec);
  add_number (out, "finished", record->finished_usec);
  add_number (out, "outcome", record->kind);
  add_number (out, "failure", record->failure);
  add_number (out, "ok", record->ok ? 1 : 0);
  add_text (out, "text", text);
  g_string_append (out, "}\n");
  return out;
}

/* --- reading --- */

static gboolean
get_text (JsonObject *object, const char *name, gsize max_bytes, char **ret_text)
{
  JsonNode *node = json_object_get_member (object, name);
  const char *text = sbx_json_node_text (node);

  *ret_text = NULL;
  if (node == NULL)
    return TRUE;
  if (text == NULL || strlen (text) > max_bytes)
    return FALSE;
  *ret_text = g_strdup (text);
  return TRUE;
}

static gboolean
get_number (JsonObject *object, const char *name, gint64 max, gint64 *ret_number)
{
  return sbx_json_member_integer (object, name, ret_number) && *ret_number >= 0 && *ret_number <= max;
}

static JsonNode *
read_object (const char *text, gsize n_bytes, GError **error)
{
  g_autoptr (JsonNode) root = sbx_json_read (text, n_bytes, SBX_RECORD_FILE_MAX_BYTES, error);

  if (root == NULL || JSON_NODE_HOLDS_OBJECT (root))
    return g_steal_pointer (&root);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "it is no JSON object");
  return NULL;
}

static gboolean
refuse (GError **error)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "a member is missing or not as it was written");
  return FALSE;
}

void
sbx_unfinished_free (SbxUnfinished *self)
{
  for (gsize i = 0; i < G_N_ELEMENTS (self->owned); i++)
    g_free (self->owned[i]);
  g_free (self->turn);
  g_free (self);
}

SbxUnfinished *
sbx_record_file_read_unfinished (const char *text, gsize n_bytes, const char *turn, gboolean started,
                                 GError **error)
{
  g_autoptr (JsonNode) root = read_object (text, n_bytes, error);
  g_autoptr (SbxUnfinished) self = g_new0 (SbxUnfinished, 1);
  JsonObject *object;
  gint64 uid, deadline = 0;

  if (root == NULL)
    return NULL;
  object = json_node_get_object (root);
  self->turn = g_strdup (turn);
  self->started = started;
  if (!get_text (object, "channel", SBX_MAX_CHANNEL_BYTES, &self->owned[0])
      || !get_text (object, "message_id", SBX_MAX_MESSAGE_ID_BYTES, &self->owned[1])
      || !get_text (object, "speaker_id", SBX_MAX_SPEAKER_BYTES, &self->owned[2])
      || !get_text (object, "speaker_name", SBX_MAX_SPEAKER_BYTES, &self->owned[3])
      || !get_text (object, "principal", SBX_MAX_SPEAKER_BYTES, &self->owned[4])
      || !get_text (object, "text", SBX_MAX_TEXT_UNITS * 3, &self->owned[5])
      || !get_number (object, "uid", G_MAXUINT32, &uid)
      || !get_number (object, "accepted", G_MAXINT64, &self->accepted_usec)
      || (json_object_has_member (object, "deadline_msec")
          && !get_number (object, "deadline_msec", SBX_MAX_DEADLINE_MSEC, &deadline))
      || self->owned[0] == NULL || !sbx_channel_key_is_valid (self->owned[0]))
    {
      (void) refuse (error);
      return NULL;
    }
  self->whole = self->owned[2] != NULL && self->owned[3] != NULL && self->owned[5] != NULL;
  self->request = (SbxTurnRequest){ .channel = self->owned[0],
                                    .message_id = self->owned[1],
                                    .speaker_id = self->owned[2],
                                    .speaker_name = self->owned[3],
                                    .principal = self->owned[4],
                                    .text = self->owned[5],
                                    .uid = (guint32) uid,
                                    .deadline_msec = (guint32) deadline,
                                    .detached = self->whole };
  return g_steal_pointer (&self);
}

gboolean
sbx_record_file_read_done (const char *text, gsize n_bytes, const char *turn, SbxRecord *ret_record,
                           char **ret_text, GError **error)
{
  g_autoptr (JsonNode) root = read_object (text, n_bytes, error);
  g_autofree char *channel = NULL;
  g_autofree char *message_id = NULL;
  g_autofree char *reply = NULL;
  gint64 uid, accepted, finished, kind, failure, ok;
  JsonObject *object;

  if (root == NULL)
    return FALSE;
  object = json_node_get_object (root);
  if (!get_text (object, "channel", SBX_MAX_CHANNEL_BYTES, &channel) || channel == NULL
      || !get_text (object, "message_id", SBX_MAX_MESSAGE_ID_BYTES, &message_id)
      || !get_text (object, "text", SBX_MAX_REPLY_BYTES, &reply)
      || !get_number (object, "uid", G_MAXUINT32, &uid)
      || !get_number (object, "accepted", G_MAXINT64, &accepted)
      || !get_number (object, "finished", G_MAXINT64, &finished)
      || !get_number (object, "outcome", _SBX_OUTCOME_LAST, &kind) || kind == SBX_OUTCOME_NONE
      || !get_number (object, "failure", _SBX_FAILURE_LAST, &failure) || !get_number (object, "ok", 1, &ok))
    return refuse (error);
  if (ret_record != NULL)
    *ret_record = (SbxRecord){ .turn = g_strdup (turn),
                               .channel = g_steal_pointer (&channel),
                               .message_id = g_steal_pointer (&message_id),
                               .uid = (guint32) uid,
                               .accepted_usec = accepted,
                               .finished_usec = finished,
                               .kind = (SbxOutcomeKind) kind,
                               .failure = (SbxFailure) failure,
                               .ok = ok == 1 };
  if (ret_text != NULL)
    *ret_text = g_steal_pointer (&reply);
  return TRUE;
}
