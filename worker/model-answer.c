/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "model-answer.h"

#include <string.h>

#include "base/json-variant.h"
#include "base/json-write.h"
#include "base/utf16.h"
#include "json-in.h"
#include "cut.h"
#include "wire/bounds.h"

#define MAX_ID_UNITS 128u

static void
call_free (gpointer data)
{
  SbxCall *call = data;

  g_free (call->id);
  g_free (call->name);
  g_free (call->arguments);
  g_free (call);
}

/* The texts of a list of parts, one after the other; NULL where it holds none. */
static char *
join_parts (GVariant *parts)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean found = FALSE;

  for (guint i = 0; i < sbx_json_in_length (parts); i++)
    {
      GVariant *part = sbx_json_in_element (parts, i);
      const char *piece = sbx_json_in_text (part, "text");

      if (piece == NULL || g_strcmp0 (sbx_json_in_text (part, "type"), "text") != 0)
        continue;
      found = TRUE;
      g_string_append (text, piece);
    }
  return found ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

static char *
read_content (GVariant *message)
{
  const char *text = sbx_json_in_text (message, "content");

  return text != NULL ? g_strdup (text) : join_parts (sbx_json_in_list (message, "content"));
}

static void
read_final (SbxAnswer *self, GVariant *choice, GVariant *message)
{
  g_autofree char *content = read_content (message);

  if (content == NULL || sbx_text_is_blank (content))
    {
      self->kind = SBX_ANSWER_EMPTY;
    }
  else if (sbx_utf16_units (content) > SBX_MAX_REPLY_UNITS)
    {
      self->kind = SBX_ANSWER_TOO_LONG;
    }
  else
    {
      self->kind = SBX_ANSWER_FINAL;
      self->text = sbx_text_trim (content);
      self->cut_short = g_strcmp0 (sbx_json_in_text (choice, "finish_reason"), "length") == 0;
    }
}

/* An id that no other call of the turn has: a request with two of one id is refused by some endpoints. */
static char *
choose_id (const char *given, GHashTable *used_ids, guint step, guint place)
{
  g_autofree char *id = NULL;

  if (given != NULL && *given != '\0' && sbx_utf16_units (given) <= MAX_ID_UNITS
      && !g_hash_table_contains (used_ids, given))
    {
      id = g_strdup (given);
    }
  else
    {
      id = g_strdup_printf ("call_%u_%u", step, place);
      for (guint more = 1; g_hash_table_contains (used_ids, id); more++)
        {
          g_free (id);
          id = g_strdup_printf ("call_%u_%u_%u", step, place, more);
        }
    }
  g_hash_table_add (used_ids, g_strdup (id));
  return g_steal_pointer (&id);
}

static char *
read_arguments (GVariant *function)
{
  GVariant *arguments = sbx_json_in_member (function, "arguments");

  if (sbx_json_in_is_object (arguments))
    {
      g_autoptr (GString) json = g_string_new (NULL);

      sbx_json_variant_write (json, arguments);
      return g_string_free (g_steal_pointer (&json), FALSE);
    }
  return g_strdup (sbx_json_in_value_text (arguments));
}

static SbxCall *
read_call (GVariant *object, SbxToolbox *toolbox, GHashTable *used_ids, guint step, guint place)
{
  GVariant *function = sbx_json_in_object (object, "function");
  const char *name = sbx_json_in_text (function, "name");
  const SbxTool *tool = name != NULL ? sbx_toolbox_find (toolbox, name) : NULL;
  SbxCall *call = g_new0 (SbxCall, 1);

  call->id = choose_id (sbx_json_in_text (object, "id"), used_ids, step, place);
  call->name = g_strdup (tool != NULL ? name : SBX_TOOL_PLACEHOLDER);
  call->tool = tool != NULL ? tool : sbx_toolbox_find (toolbox, SBX_TOOL_PLACEHOLDER);
  call->arguments = read_arguments (function);
  return call;
}

/* Members that the operator wants to go back, such as a model's reasoning or the signature of a call. The
 * contract's own stay what they are. budget: what is left of SBX_ANSWER_KEPT_BYTES; a member that does not
 * fit is left out whole. */
static void
write_kept (GString *json, GVariant *object, const char *const *keep, gsize *budget)
{
  static const char *const own[] = { "role", "content", "tool_calls", "tool_call_id",
                                     "id",   "type",    "function",   NULL };
  g_autoptr (GHashTable) written = g_hash_table_new (g_str_hash, g_str_equal);

  for (; keep != NULL && *keep != NULL; keep++)
    {
      GVariant *value = sbx_json_in_member (object, *keep);
      gsize before = json->len;

      if (value == NULL || g_strv_contains (own, *keep) || !g_hash_table_add (written, (gpointer) *keep))
        continue;
      g_string_append_c (json, ',');
      sbx_json_write_text (json, *keep, -1);
      g_string_append_c (json, ':');
      sbx_json_variant_write (json, value);
      if (json->len - before > *budget)
        g_string_truncate (json, before);
      else
        *budget -= json->len - before;
    }
}

static void
write_call (GString *json, const SbxCall *call, GVariant *object, const char *const *keep, gsize *budget)
{
  const char *shown = call->arguments;

  if (shown == NULL || sbx_json_text_bytes (shown, -1) > SBX_ANSWER_ARGUMENT_BYTES)
    shown = SBX_ANSWER_OMITTED;
  g_string_append (json, "{\"id\":");
  sbx_json_write_text (json, call->id, -1);
  g_string_append (json, ",\"type\":\"function\",\"function\":{\"name\":");
  sbx_json_write_text (json, call->name, -1);
  g_string_append (json, ",\"arguments\":");
  sbx_json_write_text (json, shown, -1);
  g_string_append_c (json, '}');
  write_kept (json, object, keep, budget);
  g_string_append_c (json, '}');
}

static char *
write_message (const SbxAnswer *self, GVariant *message, GVariant *calls, const char *const *keep)
{
  gsize budget = SBX_ANSWER_KEPT_BYTES;
  g_autoptr (GString) json = g_string_new ("{\"role\":\"assistant\",\"content\":");
  g_autofree char *content = read_content (message);
  g_autofree char *cut = sbx_text_cut (content != NULL ? content : "", SBX_ANSWER_CONTENT_BYTES);

  sbx_json_write_text (json, cut, -1);
  g_string_append (json, ",\"tool_calls\":[");
  for (guint i = 0; i < self->calls->len; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      write_call (json, self->calls->pdata[i], sbx_json_in_element (calls, i), keep, &budget);
    }
  g_string_append_c (json, ']');
  write_kept (json, message, keep, &budget);
  g_string_append_c (json, '}');
  return g_string_free (g_steal_pointer (&json), FALSE);
}

/* The first choice with its message, or NULL. Borrowed. */
static GVariant *
find_message (GVariant *root, GVariant **ret_choice)
{
  *ret_choice = sbx_json_in_element (sbx_json_in_list (root, "choices"), 0);
  return sbx_json_in_object (*ret_choice, "message");
}

char *
sbx_answer_text (GVariant *root)
{
  g_autoptr (SbxAnswer) answer = g_new0 (SbxAnswer, 1);
  GVariant *choice;
  GVariant *message = find_message (root, &choice);

  if (message != NULL)
    read_final (answer, choice, message);
  return g_steal_pointer (&answer->text);
}

SbxAnswer *
sbx_answer_new (GVariant *root, SbxToolbox *toolbox, GHashTable *used_ids, guint step,
                const char *const *keep)
{
  SbxAnswer *self = g_new0 (SbxAnswer, 1);
  GVariant *choice;
  GVariant *message = find_message (root, &choice);
  GVariant *calls;

  self->kind = SBX_ANSWER_BROKEN;
  if (message == NULL)
    return self;

  calls = sbx_json_in_list (message, "tool_calls");
  if (sbx_json_in_length (calls) == 0)
    {
      read_final (self, choice, message);
      return self;
    }
  if (sbx_json_in_length (calls) > SBX_ANSWER_MAX_CALLS)
    {
      self->kind = SBX_ANSWER_TOO_MANY;
      return self;
    }
  self->kind = SBX_ANSWER_CALLS;
  self->calls = g_ptr_array_new_with_free_func (call_free);
  for (guint i = 0; i < sbx_json_in_length (calls); i++)
    g_ptr_array_add (self->calls, read_call (sbx_json_in_element (calls, i), toolbox, used_ids, step, i));
  self->message = write_message (self, message, calls, keep);
  return self;
}

void
sbx_answer_free (SbxAnswer *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->calls, g_ptr_array_unref);
  g_free (self->text);
  g_free (self->message);
  g_free (self);
}
