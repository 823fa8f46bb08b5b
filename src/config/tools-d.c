/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/tools-d.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/un.h>

#include "base/json-member.h"
#include "base/names.h"
#include "config/json-file.h"
#include "config/search.h"
#include "wire/bounds.h"

#define DIRECTORY            "tools.d"
#define DEFAULT_DEADLINE_SEC 60u
#define MAX_DEADLINE_SEC     600u
#define MAX_CALLS            1000u

static const char *const tool_members[] = { "name", "description",  "parameters", "socket", "bus",
                                            "kind", "deadline_sec", "calls",      NULL };
static const char *const bus_members[] = { "name", "path", "interface", "method", NULL };

void
sbx_tool_free (SbxTool *self)
{
  if (self == NULL)
    return;
  sbx_tool_spec_clear (&self->spec);
  g_free (self->socket);
  g_free (self->bus_name);
  g_free (self->bus_path);
  g_free (self->bus_interface);
  g_free (self->bus_method);
  g_free (self);
}

static gboolean
read_bus (SbxTool *self, const char *path, JsonObject *object, GPtrArray *warnings, GError **error)
{
  JsonObject *bus = sbx_json_member_object (object, "bus");

  if (bus == NULL)
    return sbx_json_file_refuse (path, "bus", "an object with name, path, interface and method", error);
  sbx_json_file_warn (path, bus, bus_members, warnings);
  if (!sbx_json_file_text (path, bus, "name", TRUE, &self->bus_name, error)
      || !sbx_json_file_text (path, bus, "path", TRUE, &self->bus_path, error)
      || !sbx_json_file_text (path, bus, "interface", TRUE, &self->bus_interface, error)
      || !sbx_json_file_text (path, bus, "method", TRUE, &self->bus_method, error))
    return FALSE;
  if (!g_dbus_is_name (self->bus_name) || g_dbus_is_unique_name (self->bus_name))
    return sbx_json_file_refuse (path, "bus.name", "a well-known D-Bus name such as org.example.Bot", error);
  if (!g_variant_is_object_path (self->bus_path))
    return sbx_json_file_refuse (path, "bus.path", "a D-Bus object path such as /org/example/Bot", error);
  if (!g_dbus_is_interface_name (self->bus_interface))
    return sbx_json_file_refuse (path, "bus.interface", "a D-Bus interface name", error);
  if (!g_dbus_is_member_name (self->bus_method))
    return sbx_json_file_refuse (path, "bus.method", "the name of a D-Bus method", error);
  return TRUE;
}

static gboolean
read_place (SbxTool *self, const char *path, JsonObject *object, GPtrArray *warnings, GError **error)
{
  if (json_object_has_member (object, "socket") && json_object_has_member (object, "bus"))
    return sbx_json_file_refuse (path, "socket", "left out where \"bus\" is there", error);
  if (json_object_has_member (object, "bus"))
    return read_bus (self, path, object, warnings, error);
  self->socket = g_strdup_printf ("%s/%s.sock", SBX_TOOL_SOCKETS_DIR, self->spec.name);
  if (!sbx_json_file_text (path, object, "socket", FALSE, &self->socket, error))
    return FALSE;
  if (!sbx_path_is_clean (self->socket)
      || strlen (self->socket) >= sizeof ((struct sockaddr_un *) NULL)->sun_path)
    return sbx_json_file_refuse (path, "socket", "an absolute path without \"..\", of at most 107 bytes",
                                 error);
  return TRUE;
}

static gboolean
read_kind (SbxTool *self, const char *path, JsonObject *object, GError **error)
{
  g_autofree char *kind = g_strdup ("tool");

  if (!sbx_json_file_text (path, object, "kind", FALSE, &kind, error))
    return FALSE;
  if (strcmp (kind, "compactor") == 0)
    self->kind = SBX_TOOL_KIND_COMPACTOR;
  else if (strcmp (kind, "tool") != 0)
    return sbx_json_file_refuse (path, "kind", "\"tool\" or \"compactor\"", error);
  return TRUE;
}

static SbxTool *
read_tool (const SbxConfigFile *file, GPtrArray *warnings, GError **error)
{
  g_autoptr (SbxTool) self = g_new0 (SbxTool, 1);
  g_autoptr (JsonNode) node = sbx_json_file_parse (file, error);
  JsonObject *object;

  if (node == NULL)
    return NULL;
  object = json_node_get_object (node);
  self->deadline_sec = DEFAULT_DEADLINE_SEC;
  if (!sbx_json_file_spec (file->path, object, &self->spec, error)
      || !read_place (self, file->path, object, warnings, error)
      || !read_kind (self, file->path, object, error)
      || !sbx_json_file_number (file->path, object, "deadline_sec", 1, MAX_DEADLINE_SEC, &self->deadline_sec,
                                error)
      || !sbx_json_file_number (file->path, object, "calls", 1, MAX_CALLS, &self->max_calls, error))
    return NULL;
  sbx_json_file_warn (file->path, object, tool_members, warnings);
  return g_steal_pointer (&self);
}

GPtrArray *
sbx_tools_load (const char *root, GPtrArray *warnings, GError **error)
{
  g_autoptr (GPtrArray) tools = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_tool_free);
  g_autoptr (GPtrArray) files = sbx_config_search_directory (root, DIRECTORY, ".json", error);
  g_autoptr (GHashTable) paths = g_hash_table_new (g_str_hash, g_str_equal);
  const char *compactor = NULL;

  if (files == NULL)
    return NULL;
  for (guint i = 0; i < files->len; i++)
    {
      const SbxConfigFile *file = g_ptr_array_index (files, i);
      SbxTool *tool = read_tool (file, warnings, error);

      if (tool == NULL)
        return NULL;
      g_ptr_array_add (tools, tool);
      if (g_hash_table_contains (paths, tool->spec.name))
        {
          g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                       "%s: there is a tool \"%s\" already, in %s", file->path, tool->spec.name,
                       (const char *) g_hash_table_lookup (paths, tool->spec.name));
          return NULL;
        }
      g_hash_table_insert (paths, tool->spec.name, file->path);
      if (tool->kind == SBX_TOOL_KIND_COMPACTOR && compactor != NULL)
        {
          g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                       "%s: there is a compactor already, in %s", file->path, compactor);
          return NULL;
        }
      if (tool->kind == SBX_TOOL_KIND_COMPACTOR)
        compactor = file->path;
    }
  return g_steal_pointer (&tools);
}
