/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/settings.h"

#include <string.h>

#include "base/json-write.h"
#include "wire/bounds.h"

/* {"type":"function","function":{"name":…,"description":…,"parameters":…}}, and the comma behind it. */
#define SPEC_FRAME_BYTES                                                                                     \
  (sizeof "{\"type\":\"function\",\"function\":{\"name\":,\"description\":,\"parameters\":}}," - 1)

typedef struct {
  GHashTable *names;
  guint number;
  gsize n_bytes;
} ToolList;

void
sbx_settings_free (SbxSettings *self)
{
  if (self == NULL)
    return;
  sbx_config_free (self->config);
  g_clear_pointer (&self->tools, g_ptr_array_unref);
  g_clear_pointer (&self->servers, g_ptr_array_unref);
  g_free (self);
}

/* Takes name, which the model will see. */
static gboolean
list_tool (ToolList *list, char *name, const SbxToolSpec *spec, GError **error)
{
  gsize n_bytes = strlen (name);

  list->number++;
  list->n_bytes +=
    SPEC_FRAME_BYTES + n_bytes + 2 + sbx_json_text_bytes (spec->description, -1) + strlen (spec->parameters);
  if (!g_hash_table_add (list->names, name))
    {
      /* Set members are compared, not replaced: name is freed by the table. */
      g_set_error (
        error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
        "Two tools would have the same name for the model: \"%s\" (a host tool is host_NAME, a server's tool "
        "mcp_NUMBER_NAME)",
        spec->name);
      return FALSE;
    }
  if (n_bytes > SBX_MAX_FUNCTION_NAME_BYTES)
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE, "The tool \"%s\" has too long a name",
                   spec->name);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_tool_list (SbxSettings *self, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  ToolList list = { .names = names, .number = SBX_WORKER_TOOLS, .n_bytes = SBX_WORKER_TOOLS_BYTES + 2 };

  for (guint i = 0; i < self->tools->len; i++)
    {
      const SbxTool *tool = g_ptr_array_index (self->tools, i);

      if (tool->kind == SBX_TOOL_KIND_TOOL
          && !list_tool (&list, g_strconcat ("host_", tool->spec.name, NULL), &tool->spec, error))
        return FALSE;
    }
  for (guint i = 0; i < self->servers->len; i++)
    {
      const SbxMcpServer *server = g_ptr_array_index (self->servers, i);

      for (guint j = 0; j < server->tools->len; j++)
        {
          const SbxToolSpec *spec = g_ptr_array_index (server->tools, j);

          if (!list_tool (&list, g_strdup_printf ("mcp_%u_%s", i, spec->name), spec, error))
            return FALSE;
        }
    }
  if (list.number > SBX_MAX_TOOLS)
    {
      g_set_error (
        error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
        "tools.d and mcp.d have %u tools together; at most %u are possible beside the worker's own %u",
        list.number - SBX_WORKER_TOOLS, SBX_MAX_TOOLS - SBX_WORKER_TOOLS, SBX_WORKER_TOOLS);
      return FALSE;
    }
  if (list.n_bytes > SBX_MAX_TOOL_LIST_BYTES)
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                   "The tools of tools.d and mcp.d take %" G_GSIZE_FORMAT
                   " bytes together as the model is told of them; "
                   "with the worker's own they may take %u: shorten descriptions and schemas",
                   list.n_bytes, SBX_MAX_TOOL_LIST_BYTES);
      return FALSE;
    }
  return TRUE;
}

SbxSettings *
sbx_settings_load (const char *root, GPtrArray *warnings, GError **error)
{
  g_autoptr (SbxSettings) self = g_new0 (SbxSettings, 1);

  self->config = sbx_config_load (root, warnings, error);
  if (self->config == NULL)
    return NULL;
  self->tools = sbx_tools_load (root, warnings, error);
  if (self->tools == NULL)
    return NULL;
  self->servers = sbx_mcp_servers_load (root, warnings, error);
  if (self->servers == NULL || !check_tool_list (self, error))
    return NULL;
  return g_steal_pointer (&self);
}
