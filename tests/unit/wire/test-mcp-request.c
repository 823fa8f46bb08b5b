/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/mcp-request.h"

#include <string.h>

#include "base/json-gate.h"

#define FINE    SBX_MCP_REQUEST_FINE
#define REFUSED SBX_MCP_REQUEST_REFUSED

static const char *const tools[] = { "search", "fetch", NULL };

static void
test_body (void)
{
#define CALL(params) "{\"method\":\"tools/call\",\"params\":" params "}"
  static const struct {
    const char *body;
    SbxMcpVerdict verdict;
    const char *tool;
    const char *arguments;
  } cases[] = {
    { CALL ("{\"name\":\"search\",\"arguments\":{\"q\": 1.50}}"), FINE, "search", "{\"q\":1.5}" },
    { CALL ("{\"name\":\"fetch\",\"arguments\":{},\"task\":{\"ttl\":1}}"), FINE, "fetch", "{}" },
    { "{\"id\":{\"a\":1},\"jsonrpc\":2,\"session\":1,\"params\":{\"arguments\":{\"name\":\"x\"},\"name\":"
      "\"search\"},"
      "\"method\":\"tools/call\"}",
      FINE, "search", "{\"name\":\"x\"}" },
    { CALL ("{\"name\":\"search\",\"arguments\":{\"$ref\":\"https://x.example\",\"\\u0000\":\"\\u0000\"}}"),
      FINE, "search", "{\"$ref\":\"https://x.example\",\"\\u0000\":\"\\u0000\"}" },
    { CALL ("{\"name\":\"delete\",\"arguments\":{}}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":\"search \",\"arguments\":{}}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":\"search\\u0000\",\"arguments\":{}}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":\"\",\"arguments\":{}}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":null,\"arguments\":{}}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":[\"search\"],\"arguments\":{}}"), REFUSED, NULL, NULL },
    { CALL ("{\"arguments\":{}}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":\"search\"}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":\"search\",\"arguments\":null}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":\"search\",\"arguments\":[]}"), REFUSED, NULL, NULL },
    { CALL ("{\"name\":\"search\",\"arguments\":\"{}\"}"), REFUSED, NULL, NULL },
    { CALL ("null"), REFUSED, NULL, NULL },
    { CALL ("\"x\""), REFUSED, NULL, NULL },
    { "{\"method\":\"tools/call\"}", REFUSED, NULL, NULL },
    { "{\"method\":\"tools/list\",\"params\":{\"name\":\"search\",\"arguments\":{}}}", REFUSED, NULL, NULL },
    { "{\"method\":\"tools/call \",\"params\":{\"name\":\"search\",\"arguments\":{}}}", REFUSED, NULL, NULL },
    { "{\"method\":[\"tools/call\"],\"params\":{\"name\":\"search\",\"arguments\":{}}}", REFUSED, NULL,
      NULL },
    { "{\"params\":{\"name\":\"search\",\"arguments\":{}}}", REFUSED, NULL, NULL },
    { "{}", REFUSED, NULL, NULL },
    { "[]", SBX_MCP_REQUEST_NOT_OBJECT, NULL, NULL },
    { "[{\"method\":\"tools/call\"}]", SBX_MCP_REQUEST_NOT_OBJECT, NULL, NULL },
    { "null", SBX_MCP_REQUEST_NOT_OBJECT, NULL, NULL },
    { "\"x\"", SBX_MCP_REQUEST_NOT_OBJECT, NULL, NULL },
    { "", SBX_MCP_REQUEST_UNREADABLE, NULL, NULL },
    { "{} {}", SBX_MCP_REQUEST_UNREADABLE, NULL, NULL },
    { CALL ("{\"name\":\"search\",\"arguments\":{\"n\":1e400}}"), SBX_MCP_REQUEST_UNREADABLE, NULL, NULL },
    { CALL ("{\"name\":\"delete\",\"name\":\"search\",\"arguments\":{}}"), SBX_MCP_REQUEST_UNREADABLE, NULL,
      NULL },
  };
#undef CALL

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) body = g_bytes_new_static (cases[i].body, strlen (cases[i].body));
      g_autoptr (GBytes) arguments = NULL;
      g_autofree char *tool = NULL;
      SbxMcpVerdict verdict = sbx_mcp_request_read (body, tools, &tool, &arguments);

      if (verdict != cases[i].verdict)
        g_error ("verdict %u on %s", (guint) verdict, cases[i].body);
      g_assert_cmpstr (tool, ==, cases[i].tool);
      g_assert_true ((arguments != NULL) == (verdict == FINE));
      if (arguments != NULL)
        g_assert_cmpmem (g_bytes_get_data (arguments, NULL), g_bytes_get_size (arguments), cases[i].arguments,
                         strlen (cases[i].arguments));
    }
}

/* What a taken-over broker could say to the egress. */
static void
test_parts (void)
{
  static const struct {
    const char *tool;
    const char *arguments;
    SbxMcpVerdict verdict;
  } cases[] = {
    { "search", "{\"q\":1}", FINE },
    { "delete", "{\"q\":1}", REFUSED },
    { "", "{}", REFUSED },
    { "search", "[]", REFUSED },
    { "search", "null", REFUSED },
    { "search", "{}},\"method\":\"x\"", SBX_MCP_REQUEST_UNREADABLE },
    { "search", "", SBX_MCP_REQUEST_UNREADABLE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) arguments = g_bytes_new_static (cases[i].arguments, strlen (cases[i].arguments));
      g_autoptr (GBytes) ret_arguments = NULL;

      g_assert_cmpint (sbx_mcp_request_read_parts (cases[i].tool, arguments, tools, &ret_arguments), ==,
                       cases[i].verdict);
      g_assert_true ((ret_arguments != NULL) == (cases[i].verdict == FINE));
    }
}

static void
test_write (void)
{
  g_autoptr (GBytes) arguments = g_bytes_new_static ("{\"q\":1}", 7);
  g_autoptr (GBytes) body = sbx_mcp_request_write (7, "search", arguments);
  const char *expected =
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"search\","
    "\"arguments\":{\"q\":1}}}";

  g_assert_cmpmem (g_bytes_get_data (body, NULL), g_bytes_get_size (body), expected, strlen (expected));
  g_assert_true (sbx_json_gate (g_bytes_get_data (body, NULL), g_bytes_get_size (body), 1024, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp-request/body", test_body);
  g_test_add_func ("/mcp-request/parts", test_parts);
  g_test_add_func ("/mcp-request/write", test_write);
  return g_test_run ();
}
