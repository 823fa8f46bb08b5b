/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn-input.h"

#include <string.h>

#include "json-in.h"
#include "wire/bounds.h"

G_DEFINE_QUARK (sbx - turn - input - error - quark, sbx_turn_input_error)

static gboolean
refuse (GError **error, const char *member)
{
  g_set_error (error, SBX_TURN_INPUT_ERROR, SBX_TURN_INPUT_ERROR_MEMBER,
               "the turn's member \"%s\" is missing or breaks its rule", member);
  return FALSE;
}

/* ^[a-z][a-z0-9_]{0,47}$, the whole text. */
static gboolean
is_name (const char *text)
{
  if (text == NULL || !g_ascii_islower (*text) || strlen (text) > SBX_MAX_NAME_BYTES)
    return FALSE;
  for (; *text != '\0'; text++)
    if (!g_ascii_islower (*text) && !g_ascii_isdigit (*text) && *text != '_')
      return FALSE;
  return TRUE;
}

static GArray *
read_tools (JsonArray *list)
{
  g_autoptr (GArray) tools = g_array_new (FALSE, TRUE, sizeof (SbxToolSpec));

  if (list == NULL)
    return NULL;
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonObject *object = sbx_json_in_node_object (json_array_get_element (list, i));
      SbxToolSpec spec = {
        .name = sbx_json_in_text (object, "name"),
        .description = sbx_json_in_text (object, "description"),
      };

      if (!is_name (spec.name) || spec.description == NULL
          || sbx_json_in_object (object, "parameters") == NULL)
        return NULL;
      spec.parameters = json_object_get_member (object, "parameters");
      g_array_append_val (tools, spec);
    }
  return g_steal_pointer (&tools);
}

static void
server_free (gpointer data)
{
  SbxServerSpec *server = data;

  g_array_unref (server->tools);
  g_free (server);
}

static GPtrArray *
read_servers (JsonArray *list)
{
  g_autoptr (GPtrArray) servers = g_ptr_array_new_with_free_func (server_free);

  if (list == NULL)
    return NULL;
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonObject *object = sbx_json_in_node_object (json_array_get_element (list, i));
      const char *name = sbx_json_in_text (object, "server");
      GArray *tools = read_tools (sbx_json_in_list (object, "tools"));
      SbxServerSpec *server;

      if (tools == NULL)
        return NULL;
      server = g_new0 (SbxServerSpec, 1);
      server->name = name;
      server->tools = tools;
      g_ptr_array_add (servers, server);
      if (!is_name (name))
        return NULL;
    }
  return g_steal_pointer (&servers);
}

/* An optional boolean: FALSE where it is missing; with null_is_missing, null is. */
static gboolean
read_flag (JsonObject *turn, const char *name, gboolean null_is_missing, gboolean *ret_flag, GError **error)
{
  JsonNode *node = json_object_has_member (turn, name) ? json_object_get_member (turn, name) : NULL;

  *ret_flag = FALSE;
  if (node == NULL || (null_is_missing && JSON_NODE_HOLDS_NULL (node)))
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_BOOLEAN)
    return refuse (error, name);
  *ret_flag = json_node_get_boolean (node);
  return TRUE;
}

static gboolean
read_count (JsonObject *turn, const char *name, gint64 *ret_count, GError **error)
{
  JsonNode *node = json_object_has_member (turn, name) ? json_object_get_member (turn, name) : NULL;

  *ret_count = -1;
  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64
      || json_node_get_int (node) < 0)
    return refuse (error, name);
  *ret_count = json_node_get_int (node);
  return TRUE;
}

static gboolean
read_keep (SbxTurnInput *self, JsonObject *turn, GError **error)
{
  JsonArray *list = sbx_json_in_list (turn, "keep");

  if (list == NULL && json_object_has_member (turn, "keep") && !json_object_get_null_member (turn, "keep"))
    return refuse (error, "keep");
  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++)
    {
      const char *name = sbx_json_in_node_text (json_array_get_element (list, i));

      if (name == NULL)
        return refuse (error, "keep");
      g_ptr_array_insert (self->keep, (gint) i, (gpointer) name);
    }
  return TRUE;
}

static gboolean
read_compaction (SbxTurnInput *self, JsonObject *turn, GError **error)
{
  JsonObject *object = sbx_json_in_object (turn, "compaction");

  if (object == NULL)
    {
      if (json_object_has_member (turn, "compaction") && !json_object_get_null_member (turn, "compaction"))
        return refuse (error, "compaction");
      return TRUE;
    }
  self->compaction = TRUE;
  self->compactor = sbx_json_in_text (object, "compactor");
  if (self->compactor != NULL && !is_name (self->compactor))
    return refuse (error, "compaction");
  return TRUE;
}

static gboolean
read_members (SbxTurnInput *self, JsonObject *turn, GError **error)
{
  JsonObject *speaker = sbx_json_in_object (turn, "speaker");

  if ((self->text = sbx_json_in_text (turn, "text")) == NULL)
    return refuse (error, "text");
  self->speaker_id = sbx_json_in_text (speaker, "id");
  if (self->speaker_id == NULL || sbx_json_in_text (speaker, "name") == NULL)
    return refuse (error, "speaker");
  self->speaker = json_object_get_member (turn, "speaker");
  if ((self->model = sbx_json_in_text (turn, "model")) == NULL)
    return refuse (error, "model");
  if ((self->prompt = sbx_json_in_text (turn, "prompt")) == NULL)
    return refuse (error, "prompt");
  if ((self->time_zone = sbx_json_in_text (turn, "timeZone")) == NULL)
    return refuse (error, "timeZone");
  if ((self->tools = read_tools (sbx_json_in_list (turn, "tools"))) == NULL)
    return refuse (error, "tools");
  if ((self->servers = read_servers (sbx_json_in_list (turn, "mcp"))) == NULL)
    return refuse (error, "mcp");
  return read_flag (turn, "reset", FALSE, &self->reset, error)
         && read_flag (turn, "repair", TRUE, &self->repair, error)
         && read_count (turn, "calls", &self->calls, error)
         && read_count (turn, "remaining_ms", &self->remaining_ms, error) && read_keep (self, turn, error)
         && read_compaction (self, turn, error);
}

SbxTurnInput *
sbx_turn_input_read (const char *data, gsize n_bytes, GError **error)
{
  g_autoptr (SbxTurnInput) self = g_new0 (SbxTurnInput, 1);
  JsonObject *turn;

  self->keep = g_ptr_array_new ();
  self->root = sbx_json_in_read (data, n_bytes, SBX_MAX_TURN_BYTES, error);
  if (self->root == NULL)
    return NULL;
  turn = sbx_json_in_node_object (self->root);
  if (turn == NULL)
    {
      g_set_error_literal (error, SBX_TURN_INPUT_ERROR, SBX_TURN_INPUT_ERROR_MEMBER,
                           "the turn is not a JSON object");
      return NULL;
    }
  if (!read_members (self, turn, error))
    return NULL;
  g_ptr_array_add (self->keep, NULL);
  return g_steal_pointer (&self);
}

void
sbx_turn_input_free (SbxTurnInput *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->tools, g_array_unref);
  g_clear_pointer (&self->servers, g_ptr_array_unref);
  g_clear_pointer (&self->keep, g_ptr_array_unref);
  g_clear_pointer (&self->root, json_node_unref);
  g_free (self);
}
