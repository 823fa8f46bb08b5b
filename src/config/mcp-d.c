/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/mcp-d.h"

#include <string.h>

#include "base/json-member.h"
#include "config/json-file.h"
#include "config/search.h"
#include "wire/bounds.h"
#include "wire/model-request.h"

#define DIRECTORY             "mcp.d"
#define MAX_REMOTE_NAME_BYTES 128u

static const char *const server_members[] = { "name",       "url",     "key_file", "ca_file", "allow_private",
                                              "plain_http", "session", "tools",    NULL };
static const char *const tool_members[] = { "name", "description", "parameters", "remote_name", NULL };

void
sbx_mcp_server_free (SbxMcpServer *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  sbx_endpoint_free (self->endpoint);
  g_clear_pointer (&self->tools, g_ptr_array_unref);
  g_free (self);
}

const SbxToolSpec *
sbx_mcp_server_tool (const SbxMcpServer *self, const char *tool)
{
  for (guint i = 0; i < self->tools->len; i++)
    {
      const SbxToolSpec *spec = g_ptr_array_index (self->tools, i);

      if (strcmp (spec->name, tool) == 0)
        return spec;
    }
  return NULL;
}

static void
spec_free (gpointer data)
{
  sbx_tool_spec_clear (data);
  g_free (data);
}

static gboolean
read_endpoint (SbxEndpoint *self, const char *path, JsonObject *object, GError **error)
{
  const char *fault;

  if (!sbx_json_file_text (path, object, "url", TRUE, &self->url, error)
      || !sbx_json_file_text (path, object, "key_file", FALSE, &self->key_file, error)
      || !sbx_json_file_text (path, object, "ca_file", FALSE, &self->ca_file, error)
      || !sbx_json_file_boolean (path, object, "allow_private", &self->allow_private, error)
      || !sbx_json_file_boolean (path, object, "plain_http", &self->plain_http, error))
    return FALSE;
  fault = sbx_endpoint_url_fault (self->url, self->plain_http);
  if (fault != NULL)
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE, "%s: \"url\" is not right: %s", path,
                   fault);
      return FALSE;
    }
  if (self->key_file[0] != '\0' && !sbx_path_is_clean (self->key_file))
    return sbx_json_file_refuse (path, "key_file", "an absolute path without \"..\"", error);
  if (self->ca_file[0] != '\0' && !sbx_path_is_clean (self->ca_file))
    return sbx_json_file_refuse (path, "ca_file", "an absolute path without \"..\"", error);
  return TRUE;
}

/* The names of the Model Context Protocol: letters, digits, "_", "-", "." (and "/", which servers use too).
 */
static gboolean
read_remote_name (SbxToolSpec *spec, const char *path, JsonObject *object, GError **error)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./";
  gsize n_bytes;

  if (!json_object_has_member (object, "remote_name"))
    return TRUE;
  if (!sbx_json_file_text (path, object, "remote_name", TRUE, &spec->remote_name, error))
    return FALSE;
  n_bytes = strlen (spec->remote_name);
  if (n_bytes == 0 || n_bytes > MAX_REMOTE_NAME_BYTES || strspn (spec->remote_name, letters) != n_bytes)
    return sbx_json_file_refuse (path, "remote_name",
                                 "at most 128 letters, digits, \"_\", \"-\", \".\" or \"/\"", error);
  return TRUE;
}

static gboolean
read_tools (SbxMcpServer *self, const char *path, JsonObject *object, GPtrArray *warnings, GError **error)
{
  JsonArray *list = sbx_json_member_list (object, "tools");

  if (list == NULL)
    return sbx_json_file_refuse (path, "tools", "a list of tools, each with name, description and parameters",
                                 error);
  if (json_array_get_length (list) > SBX_MAX_TOOLS)
    return sbx_json_file_refuse (path, "tools", "a list of at most 128 tools", error);
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonObject *element = sbx_json_node_object (json_array_get_element (list, i));
      SbxToolSpec *spec = g_new0 (SbxToolSpec, 1);
      gboolean known;

      /* Held against those before it, then owned by the list, whatever follows. */
      if (element == NULL || !sbx_json_file_spec (path, element, spec, error)
          || !read_remote_name (spec, path, element, error))
        {
          spec_free (spec);
          return element != NULL ? FALSE : sbx_json_file_refuse (path, "tools", "a list of objects", error);
        }
      known = sbx_mcp_server_tool (self, spec->name) != NULL;
      g_ptr_array_add (self->tools, spec);
      if (known)
        {
          g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE, "%s: the tool \"%s\" is there twice",
                       path, spec->name);
          return FALSE;
        }
      sbx_json_file_warn (path, element, tool_members, warnings);
    }
  return TRUE;
}

static SbxMcpServer *
read_server (const SbxConfigFile *file, GPtrArray *warnings, GError **error)
{
  g_autoptr (SbxMcpServer) self = g_new0 (SbxMcpServer, 1);
  g_autoptr (JsonNode) node = sbx_json_file_parse (file, error);
  JsonObject *object;

  self->endpoint = sbx_endpoint_new ();
  self->tools = g_ptr_array_new_with_free_func (spec_free);
  if (node == NULL)
    return NULL;
  object = json_node_get_object (node);
  if (!sbx_json_file_text (file->path, object, "name", TRUE, &self->name, error))
    return NULL;
  if (!sbx_name_is_valid (self->name, SBX_MAX_NAME_BYTES))
    {
      (void) sbx_json_file_refuse (file->path, "name",
                                   "a small letter, then at most 47 small letters, digits or \"_\"", error);
      return NULL;
    }
  if (!read_endpoint (self->endpoint, file->path, object, error)
      || !sbx_json_file_boolean (file->path, object, "session", &self->session, error)
      || !read_tools (self, file->path, object, warnings, error))
    return NULL;
  sbx_json_file_warn (file->path, object, server_members, warnings);
  return g_steal_pointer (&self);
}

GPtrArray *
sbx_mcp_servers_load (const char *root, GPtrArray *warnings, GError **error)
{
  g_autoptr (GPtrArray) servers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_mcp_server_free);
  g_autoptr (GPtrArray) files = sbx_config_search_directory (root, DIRECTORY, ".json", error);
  g_autoptr (GHashTable) paths = g_hash_table_new (g_str_hash, g_str_equal);

  if (files == NULL)
    return NULL;
  for (guint i = 0; i < files->len; i++)
    {
      const SbxConfigFile *file = g_ptr_array_index (files, i);
      SbxMcpServer *server = read_server (file, warnings, error);

      if (server == NULL)
        return NULL;
      g_ptr_array_add (servers, server);
      if (g_hash_table_contains (paths, server->name))
        {
          g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                       "%s: there is a server \"%s\" already, in %s", file->path, server->name,
                       (const char *) g_hash_table_lookup (paths, server->name));
          return NULL;
        }
      g_hash_table_insert (paths, server->name, file->path);
    }
  if (servers->len > SBX_MAX_SERVERS)
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                   "mcp.d: there are %u servers; at most %u are possible", servers->len, SBX_MAX_SERVERS);
      return NULL;
    }
  return g_steal_pointer (&servers);
}
