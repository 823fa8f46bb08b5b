/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The rules of the MCP route (wire contract 2.6), pure: one `tools/call` of a declared tool, nothing else.
 * The broker applies them to a guest's body, the egress to the two parts that a broker sends it.
 */
#pragma once

#include <glib.h>

typedef enum {
  SBX_MCP_REQUEST_FINE,
  SBX_MCP_REQUEST_UNREADABLE, /* not JSON by the gate: 502 */
  SBX_MCP_REQUEST_NOT_OBJECT, /* a batch or a scalar: 400 */
  SBX_MCP_REQUEST_REFUSED,    /* method, tool or params: 403 */
} SbxMcpVerdict;

/* tools: the server's declared tools, NULL-terminated. On FINE *ret_tool names one of them and *ret_arguments
 * is the arguments object as JSON, of at most SBX_MAX_CALL_BYTES. */
SbxMcpVerdict
sbx_mcp_request_read (GBytes *body, const char *const *tools, char **ret_tool, GBytes **ret_arguments);

/* The same rules over the parts that sbx_mcp_request_read() gives. On FINE *ret_arguments is what may be sent
 * on. */
SbxMcpVerdict sbx_mcp_request_read_parts (const char *tool, GBytes *arguments, const char *const *tools,
                                          GBytes **ret_arguments);

/* The body that goes to the server:
 * {"jsonrpc":"2.0","id":id,"method":"tools/call","params":{"name","arguments"}}. arguments must come from one
 * of the two above. */
GBytes *sbx_mcp_request_write (guint id, const char *tool, GBytes *arguments);
