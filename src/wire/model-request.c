/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Checks and writes in one walk: what goes on is put together from members that were looked at, never copied
 * whole. */
#include "wire/model-request.h"

#include <string.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/json-write.h"
#include "base/utf16.h"
#include "wire/bounds.h"
#include "wire/schema-refs.h"

#define MAX_MESSAGES 128u
#define MAX_CALLS    8u
#define MAX_ID_UNITS 128u

gboolean
sbx_name_is_valid (const char *name, gsize max_bytes)
{
  gsize length = strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_");

  return g_ascii_islower (name[0]) && length <= max_bytes && name[length] == '\0';
}

/* --- members --- */

static void
write_member (GString *out, const char *name, const char *text)
{
  if (out->str[out->len - 1] != '{')
    g_string_append_c (out, ',');
  sbx_json_write_text (out, name, -1);
  g_string_append_c (out, ':');
  sbx_json_write_text (out, text, -1);
}

/* The id of a call, which counts in UTF-16 units. NULL where it breaks the rule. */
static const char *
id_member (JsonObject *object, const char *name)
{
  const char *id = sbx_json_member_text (object, name);

  return id != NULL && *id != '\0' && sbx_utf16_units (id) <= MAX_ID_UNITS ? id : NULL;
}

/* The object `function` of a call or tool whose type is "function" and whose name is fine; else NULL. */
static JsonObject *
function_of (JsonObject *object, const char **ret_name)
{
  JsonObject *function = sbx_json_member_object (object, "function");

  if (function == NULL || g_strcmp0 (sbx_json_member_text (object, "type"), "function") != 0)
    return NULL;
  *ret_name = sbx_json_member_text (function, "name");
  if (*ret_name == NULL || !sbx_name_is_valid (*ret_name, SBX_MAX_FUNCTION_NAME_BYTES))
    return NULL;
  return function;
}

static gboolean
is_own_name (const char *name)
{
  static const char *const own[] = { "role", "content", "tool_calls", "tool_call_id",
                                     "id",   "type",    "function",   NULL };

  return g_strv_contains (own, name);
}

static void
write_kept (GString *out, JsonObject *object, const char *const *kept_members)
{
  for (gsize i = 0; kept_members != NULL && kept_members[i] != NULL; i++)
    {
      JsonNode *value = json_object_get_member (object, kept_members[i]);

      if (value == NULL || is_own_name (kept_members[i]))
        continue;
      g_string_append_c (out, ',');
      sbx_json_write_text (out, kept_members[i], -1);
      g_string_append_c (out, ':');
      sbx_json_write_node (out, value);
    }
}

/* A list that has been begun, with room for as much as was read: nearly always enough, so that it is not
 * grown and copied again and again. */
static GString *
string_for (gsize n_read)
{
  GString *out = g_string_sized_new (n_read + 64);

  g_string_append_c (out, '[');
  return out;
}

/* --- messages --- */

static gboolean
write_call (GString *out, JsonNode *node, const char *const *kept_members)
{
  JsonObject *call = sbx_json_node_object (node);
  JsonObject *function;
  const char *id;
  const char *name;
  const char *arguments;

  if (call == NULL)
    return FALSE;
  id = id_member (call, "id");
  function = function_of (call, &name);
  if (id == NULL || function == NULL)
    return FALSE;
  arguments = sbx_json_member_text (function, "arguments");
  if (arguments == NULL)
    return FALSE;

  g_string_append_c (out, '{');
  write_member (out, "id", id);
  write_member (out, "type", "function");
  g_string_append (out, ",\"function\":{");
  write_member (out, "name", name);
  write_member (out, "arguments", arguments);
  g_string_append_c (out, '}');
  write_kept (out, call, kept_members);
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
write_calls (GString *out, JsonNode *node, const char *const *kept_members)
{
  JsonArray *calls = sbx_json_node_list (node);

  if (calls == NULL || json_array_get_length (calls) > MAX_CALLS)
    return FALSE;
  g_string_append (out, ",\"tool_calls\":[");
  for (guint i = 0; i < json_array_get_length (calls); i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      if (!write_call (out, json_array_get_element (calls, i), kept_members))
        return FALSE;
    }
  g_string_append_c (out, ']');
  return TRUE;
}

/* Whether the message has only members that its role may have. */
static gboolean
members_fit (JsonObject *message, const char *role, const char *const *kept_members)
{
  gboolean is_assistant = strcmp (role, "assistant") == 0;
  JsonObjectIter iter;
  const char *name;
  JsonNode *ignored;

  json_object_iter_init_ordered (&iter, message);
  while (json_object_iter_next_ordered (&iter, &name, &ignored))
    {
      gboolean fits;

      if (strcmp (name, "role") == 0 || strcmp (name, "content") == 0)
        fits = TRUE;
      else if (strcmp (name, "tool_calls") == 0)
        fits = is_assistant;
      else if (strcmp (name, "tool_call_id") == 0)
        fits = strcmp (role, "tool") == 0;
      else
        fits =
          is_assistant && kept_members != NULL && g_strv_contains (kept_members, name) && !is_own_name (name);
      if (!fits)
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_message (GString *out, JsonNode *node, const char *const *kept_members)
{
  static const char *const roles[] = { "system", "user", "assistant", "tool", NULL };
  JsonObject *message = sbx_json_node_object (node);
  const char *role;
  const char *content;
  JsonNode *calls;

  if (message == NULL)
    return FALSE;
  role = sbx_json_member_text (message, "role");
  content = sbx_json_member_text (message, "content");
  if (role == NULL || content == NULL || !g_strv_contains (roles, role)
      || !members_fit (message, role, kept_members))
    return FALSE;

  g_string_append_c (out, '{');
  write_member (out, "role", role);
  write_member (out, "content", content);
  if (strcmp (role, "tool") == 0)
    {
      const char *id = id_member (message, "tool_call_id");

      if (id == NULL)
        return FALSE;
      write_member (out, "tool_call_id", id);
    }
  calls = json_object_get_member (message, "tool_calls");
  if (calls != NULL && !write_calls (out, calls, kept_members))
    return FALSE;
  if (strcmp (role, "assistant") == 0)
    write_kept (out, message, kept_members);
  g_string_append_c (out, '}');
  return TRUE;
}

/* NULL where a rule is broken. */
static GBytes *
write_messages (JsonNode *node, gsize n_read, const char *const *kept_members)
{
  g_autoptr (GString) out = string_for (n_read);
  JsonArray *messages = sbx_json_node_list (node);

  if (messages == NULL || json_array_get_length (messages) > MAX_MESSAGES)
    return NULL;
  for (guint i = 0; i < json_array_get_length (messages); i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      if (!write_message (out, json_array_get_element (messages, i), kept_members))
        return NULL;
    }
  g_string_append_c (out, ']');
  return g_string_free_to_bytes (g_steal_pointer (&out));
}

/* --- tools --- */

static gboolean
write_tool (GString *out, JsonNode *node, GHashTable *names)
{
  JsonObject *tool = sbx_json_node_object (node);
  JsonObject *function;
  JsonNode *parameters;
  const char *name;
  const char *description;

  function = tool != NULL ? function_of (tool, &name) : NULL;
  if (function == NULL || !g_hash_table_add (names, (gpointer) name))
    return FALSE;
  description = sbx_json_member_text (function, "description");
  parameters = json_object_get_member (function, "parameters");
  if (description == NULL || sbx_json_node_object (parameters) == NULL || !sbx_schema_is_local (parameters))
    return FALSE;

  g_string_append_c (out, '{');
  write_member (out, "type", "function");
  g_string_append (out, ",\"function\":{");
  write_member (out, "name", name);
  write_member (out, "description", description);
  g_string_append (out, ",\"parameters\":");
  sbx_json_write_node (out, parameters);
  g_string_append (out, "}}");
  return TRUE;
}

/* NULL where a rule is broken. */
static GBytes *
write_tools (JsonNode *node, gsize n_read)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GString) out = string_for (n_read);
  JsonArray *tools = sbx_json_node_list (node);

  if (tools == NULL || json_array_get_length (tools) > SBX_MAX_TOOLS)
    return NULL;
  for (guint i = 0; i < json_array_get_length (tools); i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      if (!write_tool (out, json_array_get_element (tools, i), names))
        return NULL;
    }
  g_string_append_c (out, ']');
  return g_string_free_to_bytes (g_steal_pointer (&out));
}

/* --- the whole --- */

/* tools: NULL where the guest sent none. n_read: neither was longer. */
static SbxModelVerdict
take_parts (JsonNode *messages, JsonNode *tools, gsize n_read, const char *const *kept_members,
            GBytes **ret_messages, GBytes **ret_tools)
{
  g_autoptr (GBytes) written_messages = write_messages (messages, n_read, kept_members);
  g_autoptr (GBytes) written_tools = tools != NULL ? write_tools (tools, n_read) : NULL;
  gsize n_bytes;

  if (written_messages == NULL || (tools != NULL && written_tools == NULL))
    return SBX_MODEL_REQUEST_REFUSED;
  /* Numbers can take more room than they came in ("1e14"); whoever fills a body with them is no agent. */
  n_bytes =
    g_bytes_get_size (written_messages) + (written_tools != NULL ? g_bytes_get_size (written_tools) : 0);
  if (n_bytes > SBX_MAX_CALL_BYTES)
    return SBX_MODEL_REQUEST_REFUSED;
  *ret_messages = g_steal_pointer (&written_messages);
  *ret_tools = g_steal_pointer (&written_tools);
  return SBX_MODEL_REQUEST_FINE;
}

static JsonNode *
read_bytes (GBytes *bytes, gsize max_bytes)
{
  gsize n_bytes;
  const char *data = g_bytes_get_data (bytes, &n_bytes);

  return sbx_json_read (data, n_bytes, max_bytes, NULL);
}

SbxModelVerdict
sbx_model_request_read_body (GBytes *body, const char *const *kept_members, GBytes **ret_messages,
                             GBytes **ret_tools)
{
  g_autoptr (JsonNode) root = read_bytes (body, SBX_MAX_BODY_BYTES);
  JsonObject *object;

  if (root == NULL)
    return SBX_MODEL_REQUEST_UNREADABLE;
  object = sbx_json_node_object (root);
  if (object == NULL)
    return SBX_MODEL_REQUEST_REFUSED;
  return take_parts (json_object_get_member (object, "messages"), json_object_get_member (object, "tools"),
                     g_bytes_get_size (body), kept_members, ret_messages, ret_tools);
}

SbxModelVerdict
sbx_model_request_read_parts (GBytes *messages, GBytes *tools, const char *const *kept_members,
                              GBytes **ret_messages, GBytes **ret_tools)
{
  g_autoptr (JsonNode) messages_root = read_bytes (messages, SBX_MAX_CALL_BYTES);
  g_autoptr (JsonNode) tools_root = tools != NULL ? read_bytes (tools, SBX_MAX_CALL_BYTES) : NULL;

  if (messages_root == NULL || (tools != NULL && tools_root == NULL))
    return SBX_MODEL_REQUEST_UNREADABLE;
  return take_parts (messages_root, tools_root,
                     MAX (g_bytes_get_size (messages), tools != NULL ? g_bytes_get_size (tools) : 0),
                     kept_members, ret_messages, ret_tools);
}
