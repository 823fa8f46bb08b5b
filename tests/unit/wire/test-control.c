/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/control.h"

#include <gio/gio.h>
#include <string.h>

#include "payload.h"

static const SbxFrameRule *
rule_of (const SbxFrameRule *rules, gsize n_rules, SbxFrameType type)
{
  for (gsize i = 0; i < n_rules; i++)
    if (rules[i].type == type)
      return &rules[i];
  return NULL;
}

static gboolean
decode_config (GBytes *payload, GError **error)
{
  g_autoptr (SbxControlConfig) config = sbx_control_config_decode (payload, error);

  return config != NULL;
}

static void
test_config (void)
{
  static const char *const tools[] = { "clock", "echo", NULL };
  static const char *const docs[] = { "search", "fetch", NULL };
  g_autoptr (SbxControlConfig) config = sbx_control_config_new ();
  g_autoptr (SbxControlConfig) read = NULL;
  g_autoptr (GBytes) payload = NULL;
  const SbxControlServer *server;

  g_assert_cmpuint (config->call_budget, ==, SBX_DEFAULT_CALL_BUDGET);
  config->call_budget = 7;
  config->reply_at_newline = TRUE;
  g_strfreev (config->tools);
  config->tools = g_strdupv ((char **) tools);
  sbx_control_config_add_server (config, "docs", docs);
  payload = g_byte_array_free_to_bytes (sbx_control_config_encode (config));
  read = sbx_control_config_decode (payload, NULL);
  g_assert_nonnull (read);
  g_assert_cmpuint (read->call_budget, ==, 7);
  g_assert_true (read->reply_at_newline);
  g_assert_cmpstrv (read->tools, tools);
  g_assert_cmpuint (g_strv_length (read->kept_members), ==, 0);
  g_assert_cmpuint (read->servers->len, ==, 1);
  server = g_ptr_array_index (read->servers, 0);
  g_assert_cmpstr (server->name, ==, "docs");
  g_assert_cmpstrv (server->tools, docs);
  assert_exact_form (payload, decode_config);
}

static gboolean
decode_start (GBytes *payload, GError **error)
{
  guint32 deadline_msec;

  return sbx_control_start_decode (payload, &deadline_msec, error);
}

static gboolean
decode_tool_call (GBytes *payload, GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (GBytes) input = NULL;

  return sbx_control_tool_call_decode (payload, &name, &input, error);
}

static gboolean
decode_tool_result (GBytes *payload, GError **error)
{
  SbxFailure failure;
  g_autoptr (GBytes) text = NULL;

  return sbx_control_tool_result_decode (payload, &failure, &text, error);
}

static void
test_start_and_tools (void)
{
  g_autoptr (GBytes) start = g_byte_array_free_to_bytes (sbx_control_start_encode (120000));
  g_autoptr (GBytes) input = g_bytes_new_static ("{\"a\":1}", 7);
  g_autoptr (GBytes) call = g_byte_array_free_to_bytes (sbx_control_tool_call_encode ("clock", input));
  g_autoptr (GBytes) result =
    g_byte_array_free_to_bytes (sbx_control_tool_result_encode (SBX_FAILURE_NONE, input));
  g_autoptr (GBytes) failed =
    g_byte_array_free_to_bytes (sbx_control_tool_result_encode (SBX_FAILURE_TOOL_BUSY, NULL));
  g_autoptr (GBytes) ret_input = NULL;
  g_autoptr (GBytes) ret_text = NULL;
  g_autofree char *name = NULL;
  SbxFailure failure;
  guint32 deadline_msec;

  g_assert_true (sbx_control_start_decode (start, &deadline_msec, NULL));
  g_assert_cmpuint (deadline_msec, ==, 120000);
  g_assert_true (sbx_control_tool_call_decode (call, &name, &ret_input, NULL));
  g_assert_cmpstr (name, ==, "clock");
  g_assert_true (g_bytes_equal (ret_input, input));
  g_assert_true (sbx_control_tool_result_decode (result, &failure, &ret_text, NULL));
  g_assert_cmpint (failure, ==, SBX_FAILURE_NONE);
  g_assert_true (g_bytes_equal (ret_text, input));
  g_clear_pointer (&ret_text, g_bytes_unref);
  g_assert_true (sbx_control_tool_result_decode (failed, &failure, &ret_text, NULL));
  g_assert_cmpint (failure, ==, SBX_FAILURE_TOOL_BUSY);
  assert_exact_form (start, decode_start);
  assert_exact_form (call, decode_tool_call);
  assert_exact_form (result, decode_tool_result);
}

static gboolean
decode_reply (GBytes *payload, GError **error)
{
  g_auto (SbxControlReply) reply = { 0 };

  return sbx_control_reply_decode (payload, &reply, error);
}

static void
test_reply (void)
{
  SbxControlReply reply = { .ok = TRUE,
                            .text = (char *) "d\xc3\xa9j\xc3\xa0\n\xef\xb7\x90",
                            .compaction = SBX_COMPACTION_BY_MODEL,
                            .compaction_reason = 3,
                            .compaction_tokens_before = 90000,
                            .failure = SBX_FAILURE_DISK_FULL,
                            .set_aside = 0xffu };
  g_autoptr (GBytes) payload = g_byte_array_free_to_bytes (sbx_control_reply_encode (&reply));
  g_auto (SbxControlReply) read = { 0 };

  g_assert_true (sbx_control_reply_decode (payload, &read, NULL));
  g_assert_true (read.ok);
  g_assert_cmpstr (read.text, ==,
                   "d\xc3\xa9j\xc3\xa0\n\xef\xbf\xbd"); /* the bus would refuse a noncharacter */
  g_assert_cmpint (read.compaction, ==, SBX_COMPACTION_BY_MODEL);
  g_assert_cmpuint (read.compaction_reason, ==, 3);
  g_assert_cmpuint (read.compaction_tokens_before, ==, 90000);
  g_assert_cmpint (read.failure, ==, SBX_FAILURE_DISK_FULL);
  g_assert_cmpuint (read.set_aside, ==, SBX_SET_ASIDE_ALL); /* no bit without a meaning */
  assert_exact_form (payload, decode_reply);
}

static char *
repeat (const char *text, guint n)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (out, text);
  return g_string_free (out, FALSE);
}

/* A broker that a guest took over cannot make sandboxd hold more than a reply's worth, nor a text that is
 * none. */
static void
test_reply_bounds (void)
{
  g_autofree char *longest = repeat ("\xe2\x82\xac", SBX_MAX_REPLY_UNITS);
  g_autofree char *longer = g_strnfill (SBX_MAX_REPLY_UNITS + 1, 'x');
  static const struct {
    guint8 ok;
    const char *text;
    guint8 compaction;
    gboolean fine;
  } cases[] = {
    { 1, "fine", 0, TRUE },    { 2, "fine", 0, FALSE }, { 1, "fine", _SBX_COMPACTION_LAST, TRUE },
    { 1, "fine", 200, FALSE }, { 1, "\xff", 0, FALSE }, { 1, "\xed\xa0\x80", 0, FALSE },
  };
  SbxControlReply reply = { .text = longest };
  SbxControlReply odd = { .text = (char *) "fine", .compaction_reason = 200 };
  g_autoptr (GBytes) unknown_reason = g_byte_array_free_to_bytes (sbx_control_reply_encode (&odd));
  g_autoptr (GBytes) fits = g_byte_array_free_to_bytes (sbx_control_reply_encode (&reply));
  g_autoptr (GBytes) does_not = NULL;

  g_assert_true (decode_reply (fits, NULL));
  g_assert_false (decode_reply (unknown_reason, NULL));
  reply.text = longer;
  does_not = g_byte_array_free_to_bytes (sbx_control_reply_encode (&reply));
  g_assert_false (decode_reply (does_not, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbxControlReply wanted = { .text = (char *) cases[i].text,
                                 .compaction = (SbxCompactionBy) cases[i].compaction };
      GByteArray *raw = sbx_control_reply_encode (&wanted);
      g_autoptr (GBytes) payload = NULL;

      raw->data[0] = cases[i].ok;
      payload = g_byte_array_free_to_bytes (raw);
      g_assert_true (decode_reply (payload, NULL) == cases[i].fine);
    }
}

static gboolean
decode_no_reply (GBytes *payload, GError **error)
{
  SbxFailure failure;

  return sbx_control_no_reply_decode (payload, &failure, error);
}

static void
test_no_reply (void)
{
  g_autoptr (GBytes) payload =
    g_byte_array_free_to_bytes (sbx_control_no_reply_encode (SBX_FAILURE_REPLY_INVALID));
  g_autoptr (GBytes) unknown = g_bytes_new_static ("\xff", 1);
  SbxFailure failure;

  g_assert_true (sbx_control_no_reply_decode (payload, &failure, NULL));
  g_assert_cmpint (failure, ==, SBX_FAILURE_REPLY_INVALID);
  g_assert_false (decode_no_reply (unknown, NULL));
  assert_exact_form (payload, decode_no_reply);
}

/* Only a worker's end is the broker's to tell: "the channel is off" would send the message to a host agent.
 */
static void
test_foreign_failures (void)
{
  for (guint i = 0; i <= _SBX_FAILURE_LAST; i++)
    {
      SbxControlReply reply = { .text = (char *) "sorry", .failure = (SbxFailure) i };
      g_autoptr (GBytes) no_reply = g_byte_array_free_to_bytes (sbx_control_no_reply_encode (reply.failure));
      g_autoptr (GBytes) with_reply = g_byte_array_free_to_bytes (sbx_control_reply_encode (&reply));

      g_assert_true (decode_no_reply (no_reply, NULL)
                     == (i == SBX_FAILURE_WORKER_FAILED || i == SBX_FAILURE_REPLY_INVALID
                         || i == SBX_FAILURE_REPLY_TOO_LARGE));
      g_assert_true (decode_reply (with_reply, NULL)
                     == (i == SBX_FAILURE_NONE || i == SBX_FAILURE_STORE_UNREADABLE
                         || i == SBX_FAILURE_DISK_FULL || i == SBX_FAILURE_MODEL_ANSWER));
    }
}

static gboolean
decode_audit (GBytes *payload, GError **error)
{
  SbxControlAudit audit;

  return sbx_control_audit_decode (payload, &audit, error);
}

static void
test_audit (void)
{
  SbxControlAudit audit = { .route = SBX_ROUTE_MCP,
                            .name = "docs",
                            .status = 200,
                            .failure = SBX_FAILURE_NONE,
                            .upstream_status = 201,
                            .request_bytes = 1,
                            .answer_bytes = 2,
                            .duration_msec = 3,
                            .prompt_tokens = 4,
                            .completion_tokens = 5 };
  g_autoptr (GBytes) payload = g_byte_array_free_to_bytes (sbx_control_audit_encode (&audit));
  SbxControlAudit read;

  g_assert_true (sbx_control_audit_decode (payload, &read, NULL));
  g_assert_cmpint (read.route, ==, SBX_ROUTE_MCP);
  g_assert_cmpstr (read.name, ==, "docs");
  g_assert_cmpuint (read.status, ==, 200);
  g_assert_cmpuint (read.upstream_status, ==, 201);
  g_assert_cmpuint (read.request_bytes, ==, 1);
  g_assert_cmpuint (read.answer_bytes, ==, 2);
  g_assert_cmpuint (read.duration_msec, ==, 3);
  g_assert_cmpuint (read.prompt_tokens, ==, 4);
  g_assert_cmpuint (read.completion_tokens, ==, 5);
  assert_exact_form (payload, decode_audit);
}

/* The largest message of each kind fits its line of the receiver's table. */
static void
test_rules_have_room (void)
{
  g_autofree char *text = g_strnfill (SBX_MAX_REPLY_BYTES, 'x');
  SbxControlReply reply = { .text = text };
  g_autoptr (GByteArray) encoded = sbx_control_reply_encode (&reply);
  const SbxFrameRule *rule =
    rule_of (sbx_control_rules_sandboxd, sbx_control_n_rules_sandboxd, SBX_FRAME_REPLY);

  g_assert_cmpuint (encoded->len, <=, rule->max_bytes);
  rule = rule_of (sbx_control_rules_broker, sbx_control_n_rules_broker, SBX_FRAME_START);
  g_assert_cmpuint (rule->n_fds, ==, 2);
  g_assert_null (rule_of (sbx_control_rules_broker, sbx_control_n_rules_broker, SBX_FRAME_REPLY));
  g_assert_null (rule_of (sbx_control_rules_sandboxd, sbx_control_n_rules_sandboxd, SBX_FRAME_START));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/control/config", test_config);
  g_test_add_func ("/control/start-and-tools", test_start_and_tools);
  g_test_add_func ("/control/reply", test_reply);
  g_test_add_func ("/control/reply-bounds", test_reply_bounds);
  g_test_add_func ("/control/no-reply", test_no_reply);
  g_test_add_func ("/control/foreign-failures", test_foreign_failures);
  g_test_add_func ("/control/audit", test_audit);
  g_test_add_func ("/control/rules-have-room", test_rules_have_room);
  return g_test_run ();
}
