/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "conversation.h"

#include "base/json-write.h"
#include "cut.h"

struct _SbxConversation {
  GString *head; /* up to and with the system message */
  GString *user;
  GString *tail;  /* behind the messages */
  GQueue history; /* of GString, each with its leading comma */
  GQueue groups;  /* likewise, a whole group each */
  gsize n_bytes;  /* of the request as it stands */
};

static void
free_string (gpointer data)
{
  g_string_free (data, TRUE);
}

static void
write_message (GString *json, const char *role, const char *content)
{
  g_string_append (json, "{\"role\":");
  sbx_json_write_text (json, role, -1);
  g_string_append (json, ",\"content\":");
  sbx_json_write_text (json, content, -1);
  g_string_append_c (json, '}');
}

SbxConversation *
sbx_conversation_new (const char *model, const char *tools_json, const char *system, const char *user)
{
  SbxConversation *self = g_new0 (SbxConversation, 1);
  g_autofree char *cut = NULL;

  g_return_val_if_fail (model != NULL && tools_json != NULL && system != NULL && user != NULL, self);

  self->head = g_string_new ("{\"model\":");
  sbx_json_write_text (self->head, model, -1);
  g_string_append (self->head, ",\"messages\":[");
  write_message (self->head, "system", system);
  self->user = g_string_new (",");
  cut = sbx_text_cut (user, SBX_USER_MESSAGE_BYTES);
  write_message (self->user, "user", cut);
  self->tail = g_string_new ("],\"tools\":");
  g_string_append (self->tail, tools_json);
  g_string_append_c (self->tail, '}');
  g_queue_init (&self->history);
  g_queue_init (&self->groups);
  self->n_bytes = self->head->len + self->user->len + self->tail->len;
  return self;
}

void
sbx_conversation_free (SbxConversation *self)
{
  if (self == NULL)
    return;
  g_queue_clear_full (&self->history, free_string);
  g_queue_clear_full (&self->groups, free_string);
  g_string_free (self->head, TRUE);
  g_string_free (self->user, TRUE);
  g_string_free (self->tail, TRUE);
  g_free (self);
}

void
sbx_conversation_add_history (SbxConversation *self, const char *role, const char *content)
{
  GString *message = g_string_new (",");
  g_autofree char *cut = sbx_text_cut (content, SBX_HISTORY_MESSAGE_BYTES);

  write_message (message, role, cut);
  self->n_bytes += message->len;
  g_queue_push_tail (&self->history, message);
}

void
sbx_conversation_begin_group (SbxConversation *self, const char *assistant_json)
{
  GString *group = g_string_new (",");

  g_string_append (group, assistant_json);
  self->n_bytes += group->len;
  g_queue_push_tail (&self->groups, group);
}

void
sbx_conversation_add_result (SbxConversation *self, const char *call_id, const char *result)
{
  GString *group = g_queue_peek_tail (&self->groups);
  g_autofree char *cut = sbx_text_cut (result, SBX_TOOL_RESULT_BYTES);
  gsize before;

  g_return_if_fail (group != NULL);

  before = group->len;
  g_string_append (group, ",{\"role\":\"tool\",\"tool_call_id\":");
  sbx_json_write_text (group, call_id, -1);
  g_string_append (group, ",\"content\":");
  sbx_json_write_text (group, cut, -1);
  g_string_append_c (group, '}');
  self->n_bytes += group->len - before;
}

static gboolean
drop_oldest (SbxConversation *self)
{
  gboolean from_history = !g_queue_is_empty (&self->history);
  GString *oldest = g_queue_pop_head (from_history ? &self->history : &self->groups);

  if (oldest == NULL)
    return FALSE;
  self->n_bytes -= oldest->len;
  g_string_free (oldest, TRUE);
  return TRUE;
}

guint
sbx_conversation_n_dropped (const SbxConversation *self)
{
  gsize n_bytes = self->n_bytes;
  guint n = 0;

  for (const GList *link = self->history.head; link != NULL && n_bytes > SBX_REQUEST_MAX_BYTES;
       link = link->next)
    {
      n_bytes -= ((const GString *) link->data)->len;
      n++;
    }
  return n;
}

GString *
sbx_conversation_request (SbxConversation *self)
{
  GString *request;

  while (self->n_bytes > SBX_REQUEST_MAX_BYTES)
    if (!drop_oldest (self))
      return NULL;

  request = g_string_sized_new (self->n_bytes + 1);
  g_string_append_len (request, self->head->str, (gssize) self->head->len);
  for (const GList *link = self->history.head; link != NULL; link = link->next)
    g_string_append (request, ((const GString *) link->data)->str);
  g_string_append_len (request, self->user->str, (gssize) self->user->len);
  for (const GList *link = self->groups.head; link != NULL; link = link->next)
    g_string_append (request, ((const GString *) link->data)->str);
  g_string_append_len (request, self->tail->str, (gssize) self->tail->len);
  return request;
}
