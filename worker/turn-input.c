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
read_tools (GVariant *list)
{
  g_autoptr (GArray) tools = g_array_new (FALSE, TRUE, sizeof (SbxToolSpec));

  if (list == NULL)
    return NULL;
  for (guint i = 0; i < sbx_json_in_length (list); i++)
    {
      GVariant *object = sbx_json_in_element (list, i);
      SbxToolSpec spec = {
        .name = sbx_json_in_text (object, "name"),
        .description = sbx_json_in_text (object, "description"),
        .parameters = sbx_json_in_object (object, "parameters"),
      };

      if (!is_name (spec.name) || spec.description == NULL || spec.parameters == NULL)
        return NULL;
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
read_servers (GVariant *list)
{
  g_autoptr (GPtrArray) servers = g_ptr_array_new_with_free_func (server_free);

  if (list == NULL)
    return NULL;
  for (guint i = 0; i < sbx_json_in_length (list); i++)
    {
      GVariant *object = sbx_json_in_element (list, i);
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
read_flag (GVariant *turn, const char *name, gboolean null_is_missing, gboolean *ret_flag, GError **error)
{
  GVariant *value = sbx_json_in_member (turn, name);

  *ret_flag = FALSE;
  if (value == NULL || (null_is_missing && sbx_json_in_is_null (value)))
    return TRUE;
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    return refuse (error, name);
  *ret_flag = g_variant_get_boolean (value);
  return TRUE;
}

static gboolean
read_count (GVariant *turn, const char *name, gint64 *ret_count, GError **error)
{
  GVariant *value = sbx_json_in_member (turn, name);

  *ret_count = -1;
  if (value == NULL || sbx_json_in_is_null (value))
    return TRUE;
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE_INT64) || g_variant_get_int64 (value) < 0)
    return refuse (error, name);
  *ret_count = g_variant_get_int64 (value);
  return TRUE;
}

static gboolean
read_keep (SbxTurnInput *self, GVariant *turn, GError **error)
{
  GVariant *list = sbx_json_in_member (turn, "keep");

  if (list != NULL && !sbx_json_in_is_null (list) && !sbx_json_in_is_list (list))
    return refuse (error, "keep");
  for (guint i = 0; i < sbx_json_in_length (list); i++)
    {
      const char *name = sbx_json_in_value_text (sbx_json_in_element (list, i));

      if (name == NULL)
        return refuse (error, "keep");
      g_ptr_array_insert (self->keep, (gint) i, (gpointer) name);
    }
  return TRUE;
}

static gboolean
read_compaction (SbxTurnInput *self, GVariant *turn, GError **error)
{
  GVariant *object = sbx_json_in_member (turn, "compaction");

  if (object == NULL || sbx_json_in_is_null (object))
    return TRUE;
  if (!sbx_json_in_is_object (object))
    return refuse (error, "compaction");
  self->compaction = TRUE;
  self->compactor = sbx_json_in_text (object, "compactor");
  if (self->compactor != NULL && !is_name (self->compactor))
    return refuse (error, "compaction");
  return TRUE;
}

static gboolean
read_members (SbxTurnInput *self, GVariant *turn, GError **error)
{
  if ((self->text = sbx_json_in_text (turn, "text")) == NULL)
    return refuse (error, "text");
  self->speaker = sbx_json_in_object (turn, "speaker");
  self->speaker_id = sbx_json_in_text (self->speaker, "id");
  if (self->speaker_id == NULL || sbx_json_in_text (self->speaker, "name") == NULL)
    return refuse (error, "speaker");
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

  self->keep = g_ptr_array_new ();
  self->root = sbx_json_in_read (data, n_bytes, SBX_MAX_TURN_BYTES, error);
  if (self->root == NULL)
    return NULL;
  if (!sbx_json_in_is_object (self->root))
    {
      g_set_error_literal (error, SBX_TURN_INPUT_ERROR, SBX_TURN_INPUT_ERROR_MEMBER,
                           "the turn is not a JSON object");
      return NULL;
    }
  if (!read_members (self, self->root, error))
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
  g_clear_pointer (&self->root, g_variant_unref);
  g_free (self);
}
