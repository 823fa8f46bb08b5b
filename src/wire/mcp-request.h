/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The rules of the MCP route (wire contract 2.6), pure: one `tools/call` of a declared tool, nothing else. */
#pragma once

#include <glib.h>

typedef enum {
  SBX_MCP_REQUEST_FINE,
  SBX_MCP_REQUEST_UNREADABLE, /* not JSON by the gate: 502 */
  SBX_MCP_REQUEST_NOT_OBJECT, /* a batch or a scalar: 400 */
  SBX_MCP_REQUEST_REFUSED,    /* method, tool or params: 403 */
} SbxMcpVerdict;

/* tools: the server's declared tools, NULL-terminated. On FINE *ret_tool names one of them and *ret_arguments is the
 * arguments object as JSON. */
SbxMcpVerdict sbx_mcp_request_read (GBytes *body, const char *const *tools, char **ret_tool, GBytes **ret_arguments);

/* The body that goes to the server: {"jsonrpc":"2.0","id":id,"method":"tools/call","params":{"name","arguments"}}. */
GBytes *sbx_mcp_request_write (guint id, const char *tool, GBytes *arguments);
