/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/mcp-request.h"

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/json-write.h"
#include "wire/bounds.h"

static JsonNode *
read_bytes (GBytes *bytes, gsize max_bytes)
{
  gsize n_bytes;
  const char *data = g_bytes_get_data (bytes, &n_bytes);

  return sbx_json_read (data, n_bytes, max_bytes, NULL);
}

static SbxMcpVerdict
take_arguments (const char *tool, JsonNode *arguments, const char *const *tools, GBytes **ret_arguments)
{
  g_autoptr (GBytes) written = NULL;

  if (tool == NULL || !g_strv_contains (tools, tool))
    return SBX_MCP_REQUEST_REFUSED;
  if (sbx_json_node_object (arguments) == NULL)
    return SBX_MCP_REQUEST_REFUSED;
  written = sbx_json_write_bytes (arguments);
  if (g_bytes_get_size (written) > SBX_MAX_CALL_BYTES)
    return SBX_MCP_REQUEST_REFUSED;
  *ret_arguments = g_steal_pointer (&written);
  return SBX_MCP_REQUEST_FINE;
}

SbxMcpVerdict
sbx_mcp_request_read (GBytes *body, const char *const *tools, char **ret_tool, GBytes **ret_arguments)
{
  g_autoptr (JsonNode) root = read_bytes (body, SBX_MAX_BODY_BYTES);
  JsonObject *object = sbx_json_node_object (root);
  JsonObject *params = sbx_json_member_object (object, "params");
  const char *tool = sbx_json_member_text (params, "name");
  SbxMcpVerdict verdict;

  if (root == NULL)
    return SBX_MCP_REQUEST_UNREADABLE;
  if (object == NULL)
    return SBX_MCP_REQUEST_NOT_OBJECT;
  if (params == NULL || g_strcmp0 (sbx_json_member_text (object, "method"), "tools/call") != 0)
    return SBX_MCP_REQUEST_REFUSED;

  verdict = take_arguments (tool, json_object_get_member (params, "arguments"), tools, ret_arguments);
  if (verdict == SBX_MCP_REQUEST_FINE)
    *ret_tool = g_strdup (tool);
  return verdict;
}

SbxMcpVerdict
sbx_mcp_request_read_parts (const char *tool, GBytes *arguments, const char *const *tools,
                            GBytes **ret_arguments)
{
  g_autoptr (JsonNode) root = read_bytes (arguments, SBX_MAX_CALL_BYTES);

  if (root == NULL)
    return SBX_MCP_REQUEST_UNREADABLE;
  return take_arguments (tool, root, tools, ret_arguments);
}

GBytes *
sbx_mcp_request_write (guint id, const char *tool, GBytes *arguments)
{
  GString *out = g_string_new (NULL);
  gsize n_bytes;
  const char *data = g_bytes_get_data (arguments, &n_bytes);

  g_string_append_printf (
    out, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{\"name\":", id);
  sbx_json_write_text (out, tool, -1);
  g_string_append (out, ",\"arguments\":");
  g_string_append_len (out, data, (gssize) n_bytes);
  g_string_append (out, "}}");
  return g_string_free_to_bytes (out);
}
