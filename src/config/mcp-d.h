/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* MCP servers: one JSON object a file in mcp.d, from the same three directories as sandboxd.conf.
 *
 *   { "name", "url", "key_file": path, "ca_file": path,
 *     "allow_private": bool, "plain_http": bool, "session": bool,
 *     "tools": [ { "name", "description", "parameters": schema, "remote_name" }, … ] }
 *
 * "remote_name" is what the server itself calls the tool, where that is no name by our rule (get-sum,
 * getSum).
 */
#pragma once

#include <glib.h>

#include "config/endpoint.h"
#include "config/tools-d.h"

typedef struct {
  char *name;
  SbxEndpoint *endpoint;
  gboolean session; /* Streamable HTTP with initialize and a session id */
  GPtrArray *tools; /* of SbxToolSpec */
} SbxMcpServer;

void sbx_mcp_server_free (SbxMcpServer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxMcpServer, sbx_mcp_server_free)

/* What the server's tool of this name is; NULL where it is not declared. */
const SbxToolSpec *sbx_mcp_server_tool (const SbxMcpServer *self, const char *tool);

/* All servers, in order of their file names (which is their number in mcp_<i>_<name>); the array frees them.
 */
GPtrArray *sbx_mcp_servers_load (const char *root, GPtrArray *warnings, GError **error);
