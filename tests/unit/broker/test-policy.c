/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/policy.h"

#include <string.h>

#define LONGEST "abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijk"

typedef struct {
  const char *line;   /* method and target */
  const char *fields; /* whole lines, beside the host */
  guint status;
  SbxRoute route;
  const char *name;
} Case;

/* Each rule of the checks 1 to 5, and which comes first where two are broken. */
static const Case cases[] = {
  { "POST /model", "", 0, SBX_ROUTE_MODEL, "" },
  { "POST /tools/clock", "", 0, SBX_ROUTE_TOOL, "clock" },
  { "POST /tools/" LONGEST, "", 0, SBX_ROUTE_TOOL, LONGEST },
  { "POST /mcp/docs", "", 0, SBX_ROUTE_MCP, "docs" },
  { "GET /model", "", 404 },
  { "post /model", "", 404 },
  { "POSTS /model", "", 404 },
  { "POST /model?", "", 404 },
  { "POST /model?a=b", "", 404 },
  { "POST /model#", "", 404 },
  { "POST /tools/clock?a", "", 404 },
  { "POST /", "", 404 },
  { "POST /Model", "", 404 },
  { "POST /model/", "", 404 },
  { "POST //model", "", 404 },
  { "POST /./model", "", 404 },
  { "POST /x/../model", "", 404 },
  { "POST /%6dodel", "", 404 },
  { "POST /model%00", "", 404 },
  { "POST \\model", "", 400 },
  { "POST /tools", "", 404 },
  { "POST /tools/", "", 404 },
  { "POST /tools/Clock", "", 404 },
  { "POST /tools/cloc", "", 404 },
  { "POST /tools/clocks", "", 404 },
  { "POST /tools/clock/", "", 404 },
  { "POST /tools/docs", "", 404 },
  { "POST /tools/" LONGEST "a", "", 404 },
  { "POST /mcp/clock", "", 404 },
  { "POST /mcp/docs/x", "", 404 },
  { "POST /MCP/docs", "", 404 },
  { "POST /model",
    "content-type: x\r\ncontent-length: 1\r\naccept: a\r\naccept-encoding: b\r\nuser-agent: c\r\n", 0,
    SBX_ROUTE_MODEL, "" },
  { "POST /model", "AUTHORIZATION: Bearer sandbox-dummy-key\r\n", 0, SBX_ROUTE_MODEL, "" },
  { "POST /model", "authorization: Bearer sandbox-dummy-key2\r\n", 403 },
  { "POST /model", "authorization: bearer sandbox-dummy-key\r\n", 403 },
  { "POST /model", "authorization: Bearer  sandbox-dummy-key\r\n", 403 },
  { "POST /model", "authorization:\r\n", 403 },
  { "POST /model", "cookie: a\r\n", 403 },
  { "POST /model", "connection: close\r\n", 403 },
  { "POST /model", "expect: 100-continue\r\n", 403 },
  { "POST /model", "transfer-encoding: chunked\r\n", 403 },
  { "POST /model", "content-encoding: gzip\r\n", 403 },
  { "POST /model", "accept-charset: a\r\n", 403 },
  { "POST /nothing", "cookie: a\r\n", 403 },
  { "GET /model", "cookie: a\r\n", 404 },
  { "POST /model?a", "cookie: a\r\n", 404 },
  { "POST /model", "cookie: a\r\ncookie: a\r\n", 403 },
  { "POST /model", "accept: a\r\naccept: b\r\ncookie: a\r\n", 403 },
  { "POST /model", "accept: a\r\nACCEPT: a\r\n", 400 },
  { "GET /model", "accept: a\r\naccept: a\r\n", 404 },
};

static SbxPolicy *
make_policy (void)
{
  static const char *const servers_tools[] = { "search", "fetch", NULL };
  g_autoptr (SbxControlConfig) config = sbx_control_config_new ();

  g_strfreev (config->tools);
  config->tools = g_strsplit ("clock,echo," LONGEST, ",", -1);
  sbx_control_config_add_server (config, "docs", servers_tools);
  return sbx_policy_new (config);
}

static guint
check (const SbxPolicy *policy, const char *line, const char *host, const char *fields,
       SbxPolicyTarget *ret_target)
{
  g_autofree char *data = g_strdup_printf ("%s HTTP/1.1\r\nhost: %s\r\n%s\r\n", line, host, fields);
  SbxHttpHead head;
  gsize place = 0;

  g_assert_cmpint (sbx_http_head_find (data, strlen (data), &place), ==, SBX_HTTP_HEAD_WHOLE);
  if (sbx_http_head_parse (data, place, &head) != SBX_HTTP_HEAD_WHOLE)
    return 400;
  return sbx_policy_check_head (policy, &head, ret_target);
}

static void
test_head (void)
{
  g_autoptr (SbxPolicy) policy = make_policy ();

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbxPolicyTarget target = { 0 };

      g_test_message ("%s %s", cases[i].line, cases[i].fields);
      g_assert_cmpuint (check (policy, cases[i].line, "broker", cases[i].fields, &target), ==,
                        cases[i].status);
      if (cases[i].status != 0)
        continue;
      g_assert_cmpint (target.route, ==, cases[i].route);
      g_assert_cmpstr (target.name, ==, cases[i].name);
      g_assert_true ((target.tools != NULL) == (target.route == SBX_ROUTE_MCP));
    }
}

static void
test_host (void)
{
  static const char *const others[] = { "",        "BROKER",    "broker:80", "brokerx",
                                        "xbroker", "localhost", "broker.",   "a b" };
  g_autoptr (SbxPolicy) policy = make_policy ();
  SbxPolicyTarget target;

  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_assert_cmpuint (check (policy, "POST /model", others[i], "", &target), ==, 403);
      g_assert_cmpuint (check (policy, "POST /nothing", others[i], "", &target), ==, 403);
    }
}

static void
test_turn (void)
{
  g_assert_cmpuint (sbx_policy_check_turn (TRUE, FALSE, 1), ==, 0);
  g_assert_cmpuint (sbx_policy_check_turn (TRUE, TRUE, 1), ==, 429);
  g_assert_cmpuint (sbx_policy_check_turn (TRUE, FALSE, 0), ==, 429);
  g_assert_cmpuint (sbx_policy_check_turn (FALSE, FALSE, 1), ==, 410);
  g_assert_cmpuint (sbx_policy_check_turn (FALSE, TRUE, 0), ==, 410);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/broker/policy/head", test_head);
  g_test_add_func ("/broker/policy/host", test_host);
  g_test_add_func ("/broker/policy/turn", test_turn);
  return g_test_run ();
}
