/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/grant.h"

#include <string.h>

#include "payload.h"

static gboolean
decode_grant (GBytes *payload, GError **error)
{
  g_autoptr (SbxGrant) grant = sbx_grant_decode (payload, error);

  return grant != NULL;
}

static void
test_announce (void)
{
  static const char *const servers[] = { "docs", "open", NULL };
  g_autoptr (SbxGrant) grant = sbx_grant_new ("t1", "chat:guests", "alice", 120000, 48, servers);
  g_autoptr (GBytes) payload = g_byte_array_free_to_bytes (sbx_grant_encode (grant));
  g_autoptr (SbxGrant) read = sbx_grant_decode (payload, NULL);

  g_assert_nonnull (read);
  g_assert_cmpstr (read->turn, ==, "t1");
  g_assert_cmpstr (read->channel, ==, "chat:guests");
  g_assert_cmpstr (read->speaker, ==, "alice");
  g_assert_cmpuint (read->deadline_msec, ==, 120000);
  g_assert_cmpuint (read->call_budget, ==, 48);
  g_assert_cmpstrv (read->servers, servers);
  assert_exact_form (payload, decode_grant);
}

static void
test_announce_bounds (void)
{
  g_autofree char *turn = g_strnfill (SBX_MAX_TURN_ID_BYTES + 1, 't');
  g_autofree char *channel = g_strnfill (SBX_MAX_CHANNEL_BYTES + 1, 'c');
  g_autofree char *speaker = g_strnfill (SBX_MAX_SPEAKER_BYTES + 1, 's');
  const struct {
    const char *turn;
    const char *channel;
    const char *speaker;
    gboolean fine;
  } cases[] = {
    { turn + 1, channel + 1, speaker + 1, TRUE },
    { turn, "c", "s", FALSE },
    { "t", channel, "s", FALSE },
    { "t", "c", speaker, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (SbxGrant) grant =
        sbx_grant_new (cases[i].turn, cases[i].channel, cases[i].speaker, 1, 1, NULL);
      g_autoptr (GBytes) payload = g_byte_array_free_to_bytes (sbx_grant_encode (grant));

      g_assert_true (decode_grant (payload, NULL) == cases[i].fine);
    }
}

static gboolean
decode_verdict (GBytes *payload, GError **error)
{
  SbxFailure failure;

  return sbx_grant_verdict_decode (payload, &failure, error);
}

static gboolean
decode_charge (GBytes *payload, GError **error)
{
  g_autofree char *turn = NULL;

  return sbx_grant_charge_decode (payload, &turn, error);
}

static gboolean
decode_reloaded (GBytes *payload, GError **error)
{
  g_autofree char *complaint = NULL;
  gboolean ok;

  return sbx_grant_reloaded_decode (payload, &ok, &complaint, error);
}

static void
test_service (void)
{
  g_autoptr (GBytes) verdict =
    g_byte_array_free_to_bytes (sbx_grant_verdict_encode (SBX_FAILURE_KEY_MISSING));
  g_autoptr (GBytes) charge = g_byte_array_free_to_bytes (sbx_grant_charge_encode ("t1"));
  g_autoptr (GBytes) reloaded =
    g_byte_array_free_to_bytes (sbx_grant_reloaded_encode (FALSE, "line 3: \xff"));
  g_autofree char *turn = NULL;
  g_autofree char *complaint = NULL;
  SbxFailure failure;
  gboolean ok;

  g_assert_true (sbx_grant_verdict_decode (verdict, &failure, NULL));
  g_assert_cmpint (failure, ==, SBX_FAILURE_KEY_MISSING);
  g_assert_true (sbx_grant_charge_decode (charge, &turn, NULL));
  g_assert_cmpstr (turn, ==, "t1");
  g_assert_true (sbx_grant_reloaded_decode (reloaded, &ok, &complaint, NULL));
  g_assert_false (ok);
  g_assert_cmpstr (complaint, ==, "line 3: \xef\xbf\xbd");
  assert_exact_form (verdict, decode_verdict);
  assert_exact_form (charge, decode_charge);
  assert_exact_form (reloaded, decode_reloaded);
}

/* A complaint of any length arrives, cut at a whole character. */
static void
test_long_complaint (void)
{
  GString *text = g_string_new (NULL);
  g_autofree char *complaint = NULL;
  g_autofree char *read = NULL;
  g_autoptr (GBytes) payload = NULL;
  gboolean ok;

  for (guint i = 0; i < 3000; i++)
    g_string_append (text, "\xe4\xb8\x81");
  complaint = g_string_free (text, FALSE);
  payload = g_byte_array_free_to_bytes (sbx_grant_reloaded_encode (FALSE, complaint));
  g_assert_true (sbx_grant_reloaded_decode (payload, &ok, &read, NULL));
  g_assert_cmpuint (strlen (read), >, 4000);
  g_assert_true (g_str_has_prefix (complaint, read));
}

static gboolean
decode_model_call (GBytes *payload, GError **error)
{
  g_autoptr (GBytes) messages = NULL;
  g_autoptr (GBytes) tools = NULL;

  return sbx_grant_model_call_decode (payload, &messages, &tools, error);
}

static gboolean
decode_mcp_call (GBytes *payload, GError **error)
{
  g_autofree char *server = NULL;
  g_autofree char *tool = NULL;
  g_autoptr (GBytes) arguments = NULL;

  return sbx_grant_mcp_call_decode (payload, &server, &tool, &arguments, error);
}

static void
test_calls (void)
{
  g_autoptr (GBytes) list = g_bytes_new_static ("[]", 2);
  g_autoptr (GBytes) object = g_bytes_new_static ("{}", 2);
  g_autoptr (GBytes) with_tools = g_byte_array_free_to_bytes (sbx_grant_model_call_encode (list, list));
  g_autoptr (GBytes) without = g_byte_array_free_to_bytes (sbx_grant_model_call_encode (list, NULL));
  g_autoptr (GBytes) mcp = g_byte_array_free_to_bytes (sbx_grant_mcp_call_encode ("docs", "search", object));
  g_autoptr (GBytes) messages = NULL;
  g_autoptr (GBytes) tools = NULL;
  g_autoptr (GBytes) arguments = NULL;
  g_autofree char *server = NULL;
  g_autofree char *tool = NULL;

  g_assert_true (sbx_grant_model_call_decode (with_tools, &messages, &tools, NULL));
  g_assert_true (g_bytes_equal (messages, list));
  g_assert_true (g_bytes_equal (tools, list));
  g_clear_pointer (&messages, g_bytes_unref);
  g_clear_pointer (&tools, g_bytes_unref);
  g_assert_true (sbx_grant_model_call_decode (without, &messages, &tools, NULL));
  g_assert_null (tools);
  g_assert_true (sbx_grant_mcp_call_decode (mcp, &server, &tool, &arguments, NULL));
  g_assert_cmpstr (server, ==, "docs");
  g_assert_cmpstr (tool, ==, "search");
  g_assert_true (g_bytes_equal (arguments, object));
  assert_exact_form (with_tools, decode_model_call);
  assert_exact_form (without, decode_model_call);
  assert_exact_form (mcp, decode_mcp_call);
}

static gboolean
decode_answer (GBytes *payload, GError **error)
{
  g_auto (SbxGrantAnswer) answer = { 0 };

  return sbx_grant_answer_decode (payload, &answer, error);
}

static void
test_answer (void)
{
  g_autoptr (GBytes) json = g_bytes_new_static ("{}", 2);
  SbxGrantAnswer fine = { .upstream_status = 200, .prompt_tokens = 7, .completion_tokens = 9, .json = json };
  SbxGrantAnswer failed = { .failure = SBX_FAILURE_RATE_LIMITED,
                            .upstream_status = 429,
                            .retry_after_sec = 3600 };
  g_autoptr (GBytes) fine_payload = g_byte_array_free_to_bytes (sbx_grant_answer_encode (&fine));
  g_autoptr (GBytes) failed_payload = g_byte_array_free_to_bytes (sbx_grant_answer_encode (&failed));
  g_auto (SbxGrantAnswer) read = { 0 };
  g_auto (SbxGrantAnswer) read_failed = { 0 };

  g_assert_true (sbx_grant_answer_decode (fine_payload, &read, NULL));
  g_assert_cmpuint (read.upstream_status, ==, 200);
  g_assert_cmpuint (read.prompt_tokens, ==, 7);
  g_assert_cmpuint (read.completion_tokens, ==, 9);
  g_assert_true (g_bytes_equal (read.json, json));
  g_assert_true (sbx_grant_answer_decode (failed_payload, &read_failed, NULL));
  g_assert_cmpint (read_failed.failure, ==, SBX_FAILURE_RATE_LIMITED);
  g_assert_cmpuint (read_failed.retry_after_sec, ==, 3600);
  g_assert_null (read_failed.json);
  assert_exact_form (fine_payload, decode_answer);
  assert_exact_form (failed_payload, decode_answer);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/grant/announce", test_announce);
  g_test_add_func ("/grant/announce-bounds", test_announce_bounds);
  g_test_add_func ("/grant/service", test_service);
  g_test_add_func ("/grant/long-complaint", test_long_complaint);
  g_test_add_func ("/grant/calls", test_calls);
  g_test_add_func ("/grant/answer", test_answer);
  return g_test_run ();
}
