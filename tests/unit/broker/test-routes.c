/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/routes.h"

#include <string.h>

#include "broker/http-reply.h"
#include "wire/grant.h"

typedef struct {
  SbxRoute route;
  const char *body;
  guint status;
} Case;

/* The checks 8 to 10: not JSON, not an object, the route's own rules (whose cases wire's tests have). */
static const Case cases[] = {
  { SBX_ROUTE_MODEL, "{\"messages\":[]}", 0 },
  { SBX_ROUTE_MODEL, "", 502 },
  { SBX_ROUTE_MODEL, "{", 502 },
  { SBX_ROUTE_MODEL, "[]", 400 },
  { SBX_ROUTE_MODEL, "{}", 400 },
  { SBX_ROUTE_TOOL, "{\"a\":[1]}", 0 },
  { SBX_ROUTE_TOOL, "", 502 },
  { SBX_ROUTE_TOOL, "{\"a\":01}", 502 },
  { SBX_ROUTE_TOOL, "[{}]", 400 },
  { SBX_ROUTE_TOOL, "\"a\"", 400 },
  { SBX_ROUTE_TOOL, "null", 400 },
  { SBX_ROUTE_MCP, "{\"method\":\"tools/call\",\"params\":{\"name\":\"search\",\"arguments\":{}}}", 0 },
  { SBX_ROUTE_MCP, "{\"method\":\"tools/call\",\"params\":{\"name\":\"delete\",\"arguments\":{}}}", 403 },
  { SBX_ROUTE_MCP, "{\"method\":\"tools/list\"}", 403 },
  { SBX_ROUTE_MCP, "[]", 400 },
  { SBX_ROUTE_MCP, "x", 502 },
};

static void
test_bodies (void)
{
  static const char *const tools[] = { "search", NULL };
  static const char *const kept[] = { NULL };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbxPolicyTarget target = { .route = cases[i].route, .name = "docs", .tools = tools };
      g_autoptr (GBytes) body = g_bytes_new_static (cases[i].body, strlen (cases[i].body));
      g_autoptr (GByteArray) payload = NULL;
      SbxFrameType type = 0;

      g_test_message ("%s", cases[i].body);
      g_assert_cmpuint (sbx_routes_read_body (&target, kept, body, &type, &payload), ==, cases[i].status);
      g_assert_true ((payload != NULL) == (cases[i].status == 0));
    }
}

/* The tool gets the guest's object, written anew on one line. */
static void
test_tool_frame (void)
{
  static const char text[] = " {\"b\":1.50,\n\"a\":\"\\u0041\\ud800\\n\"} ";
  static const char written[] = "{\"b\":1.5,\"a\":\"A\xef\xbf\xbd\\n\"}";
  SbxPolicyTarget target = { .route = SBX_ROUTE_TOOL, .name = "clock" };
  g_autoptr (GBytes) body = g_bytes_new_static (text, strlen (text));
  GByteArray *payload = NULL;
  g_autoptr (GBytes) frame = NULL;
  g_autoptr (GBytes) input = NULL;
  g_autofree char *name = NULL;
  SbxFrameType type;

  g_assert_cmpuint (sbx_routes_read_body (&target, NULL, body, &type, &payload), ==, 0);
  g_assert_cmpint (type, ==, SBX_FRAME_TOOL_CALL);
  frame = g_byte_array_free_to_bytes (payload);
  g_assert_true (sbx_control_tool_call_decode (frame, &name, &input, NULL));
  g_assert_cmpstr (name, ==, "clock");
  g_assert_cmpmem (g_bytes_get_data (input, NULL), g_bytes_get_size (input), written, strlen (written));
}

static void
test_wrap (void)
{
  static const gsize beside = sizeof "{\"text\":\"\"}" - 1;
  g_autofree char *text = g_strnfill (SBX_MAX_ANSWER_BYTES, 'x');
  g_autoptr (GBytes) plain = g_bytes_new_static ("a\"\x01\n", 4);
  g_autoptr (GBytes) empty = g_bytes_new_static (NULL, 0);
  g_autoptr (GBytes) most = g_bytes_new_static (text, SBX_MAX_ANSWER_BYTES - beside);
  g_autoptr (GBytes) more = g_bytes_new_static (text, SBX_MAX_ANSWER_BYTES - beside + 1);
  g_autoptr (GBytes) wrapped_plain = sbx_routes_wrap_text (plain);
  g_autoptr (GBytes) wrapped_empty = sbx_routes_wrap_text (empty);
  g_autoptr (GBytes) wrapped_most = sbx_routes_wrap_text (most);

  g_assert_cmpmem (g_bytes_get_data (wrapped_plain, NULL), g_bytes_get_size (wrapped_plain),
                   "{\"text\":\"a\\\"\\u0001\\n\"}", 22);
  g_assert_cmpmem (g_bytes_get_data (wrapped_empty, NULL), g_bytes_get_size (wrapped_empty),
                   "{\"text\":\"\"}", 11);
  g_assert_cmpuint (g_bytes_get_size (wrapped_most), ==, SBX_MAX_ANSWER_BYTES);
  g_assert_null (sbx_routes_wrap_text (more));
}

static void
test_answers (void)
{
  static const guint statuses[] = { 400, 403, 404, 410, 429, 431, 502 };
  g_autoptr (GBytes) json = g_bytes_new_static ("{\"a\":1}", 7);
  g_autoptr (GBytes) reply = sbx_http_reply_json (json);
  g_autofree char *text = g_strndup (g_bytes_get_data (reply, NULL), g_bytes_get_size (reply));

  g_assert_cmpstr (
    text, ==,
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\nConnection: close\r\n\r\n"
    "{\"a\":1}");
  for (gsize i = 0; i < G_N_ELEMENTS (statuses); i++)
    {
      g_autoptr (GBytes) refusal = sbx_http_reply_refusal (statuses[i]);
      g_autofree char *line = g_strdup_printf ("HTTP/1.1 %u ", statuses[i]);
      g_autofree char *all = g_strndup (g_bytes_get_data (refusal, NULL), g_bytes_get_size (refusal));

      g_assert_true (g_str_has_prefix (all, line));
      g_assert_nonnull (strstr (all, "\r\nConnection: close\r\n"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/broker/routes/bodies", test_bodies);
  g_test_add_func ("/broker/routes/tool-frame", test_tool_frame);
  g_test_add_func ("/broker/routes/wrap", test_wrap);
  g_test_add_func ("/broker/routes/answers", test_answers);
  return g_test_run ();
}
