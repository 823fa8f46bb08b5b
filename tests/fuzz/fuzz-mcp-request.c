/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the broker lets through names a declared tool, the egress lets it through unchanged, and the body for
 * the server is JSON. */
#include "fuzz.h"

#include "base/json-gate.h"
#include "wire/bounds.h"
#include "wire/mcp-request.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  static const char *const tools[] = { "search", "fetch", "ping", NULL };
  g_autoptr (GBytes) body = g_bytes_new (data, n_bytes);
  g_autoptr (GBytes) arguments = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GBytes) request = NULL;
  g_autofree char *tool = NULL;

  if (sbx_mcp_request_read (body, tools, &tool, &arguments) != SBX_MCP_REQUEST_FINE)
    {
      g_assert (tool == NULL && arguments == NULL);
      return 0;
    }
  g_assert (g_strv_contains (tools, tool));
  g_assert (sbx_mcp_request_read_parts (tool, arguments, tools, &again) == SBX_MCP_REQUEST_FINE);
  g_assert (g_bytes_equal (arguments, again));
  request = sbx_mcp_request_write (1, tool, arguments);
  g_assert (sbx_json_gate (g_bytes_get_data (request, NULL), g_bytes_get_size (request),
                           2 * SBX_MAX_CALL_BYTES, NULL));
  return 0;
}
