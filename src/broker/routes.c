/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/routes.h"

#include "base/json-tree.h"
#include "base/json-write.h"
#include "wire/grant.h"
#include "wire/mcp-request.h"
#include "wire/model-request.h"

static guint
read_model (const char *const *kept_members, GBytes *body, GByteArray **ret_payload)
{
  g_autoptr (GBytes) messages = NULL;
  g_autoptr (GBytes) tools = NULL;
  SbxModelVerdict verdict = sbx_model_request_read_body (body, kept_members, &messages, &tools);

  if (verdict == SBX_MODEL_REQUEST_UNREADABLE)
    return 502;
  if (verdict != SBX_MODEL_REQUEST_FINE)
    return 400;
  *ret_payload = sbx_grant_model_call_encode (messages, tools);
  return 0;
}

static guint
read_tool (const SbxPolicyTarget *target, GBytes *body, GByteArray **ret_payload)
{
  gsize n_bytes;
  const char *data = g_bytes_get_data (body, &n_bytes);
  g_autoptr (JsonNode) root = sbx_json_read (data, n_bytes, SBX_MAX_BODY_BYTES, NULL);
  g_autoptr (GBytes) input = NULL;

  if (root == NULL)
    return 502;
  if (!JSON_NODE_HOLDS_OBJECT (root))
    return 400;
  /* Written anew: a tool gets one line, and half of a surrogate pair or a blank where the guest put one never
   * reaches a parser that takes offence. */
  input = sbx_json_write_bytes (root);
  if (g_bytes_get_size (input) > SBX_MAX_CALL_BYTES)
    return 502;
  *ret_payload = sbx_control_tool_call_encode (target->name, input);
  return 0;
}

static guint
read_mcp (const SbxPolicyTarget *target, GBytes *body, GByteArray **ret_payload)
{
  g_autofree char *tool = NULL;
  g_autoptr (GBytes) arguments = NULL;

  switch (sbx_mcp_request_read (body, target->tools, &tool, &arguments))
    {
    case SBX_MCP_REQUEST_FINE:
      *ret_payload = sbx_grant_mcp_call_encode (target->name, tool, arguments);
      return 0;
    case SBX_MCP_REQUEST_UNREADABLE:
      return 502;
    case SBX_MCP_REQUEST_NOT_OBJECT:
      return 400;
    case SBX_MCP_REQUEST_REFUSED:
    default:
      return 403;
    }
}

guint
sbx_routes_read_body (const SbxPolicyTarget *target, const char *const *kept_members, GBytes *body,
                      SbxFrameType *ret_type, GByteArray **ret_payload)
{
  switch (target->route)
    {
    case SBX_ROUTE_MODEL:
      *ret_type = SBX_FRAME_MODEL_CALL;
      return read_model (kept_members, body, ret_payload);
    case SBX_ROUTE_TOOL:
      *ret_type = SBX_FRAME_TOOL_CALL;
      return read_tool (target, body, ret_payload);
    case SBX_ROUTE_MCP:
      *ret_type = SBX_FRAME_MCP_CALL;
      return read_mcp (target, body, ret_payload);
    case SBX_ROUTE_NONE:
    default:
      g_return_val_if_reached (502);
    }
}

GBytes *
sbx_routes_wrap_text (GBytes *text)
{
  gsize n_bytes;
  const char *data = g_bytes_get_data (text, &n_bytes);
  g_autoptr (GString) out = g_string_sized_new (n_bytes + 16);

  g_string_append (out, "{\"text\":");
  sbx_json_write_text (out, data != NULL ? data : "", (gssize) n_bytes);
  g_string_append_c (out, '}');
  if (out->len > SBX_MAX_ANSWER_BYTES)
    return NULL;
  return g_string_free_to_bytes (g_steal_pointer (&out));
}
