/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The egress's small judgements: retries, addresses, what a peer may say, the body of a model call. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "egress/address.h"
#include "egress/permit.h"
#include "egress/request.h"
#include "egress/retry.h"

#define NOW 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */

static void
test_retry_after (void)
{
  static const struct {
    const char *value;
    gboolean fine;
    guint sec;
  } cases[] = {
    { "0", TRUE, 0 },
    { "120", TRUE, 120 },
    { "99999999999999999999", TRUE, 86400 },
    { "Sun, 06 Nov 1994 08:49:37 GMT", TRUE, 0 },
    { "Sun, 06 Nov 1994 08:50:07 GMT", TRUE, 30 },
    { "Sun, 06 Nov 1994 08:00:00 GMT", TRUE, 0 },
    { "Mon, 06 Nov 2994 08:00:00 GMT", TRUE, 86400 },
    { "", FALSE, 0 },
    { "-1", FALSE, 0 },
    { "1.5", FALSE, 0 },
    { "12s", FALSE, 0 },
    { "Sun, 06 Xov 1994 08:49:37 GMT", FALSE, 0 },
    { "Sun, 06 anF 1994 08:49:37 GMT", FALSE, 0 },
    { "Sun, 66 Nov 1994 08:49:37 GMT", FALSE, 0 },
    { "Sunday, 06-Nov-94 08:50:07 GMT", TRUE, 30 },
    { "Sun Nov  6 08:50:07 1994", TRUE, 30 },
    { "Sun Nov  6 08:50:07", FALSE, 0 },
    { "soon", FALSE, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint sec = 7;

      g_test_message ("%s", cases[i].value);
      g_assert_cmpint (sbx_retry_after_parse (cases[i].value, NOW, &sec), ==, cases[i].fine);
      g_assert_cmpuint (sec, ==, cases[i].fine ? cases[i].sec : 7);
    }
}

static void
test_retry (void)
{
  static const struct {
    SbxRetryQuestion question;
    SbxRetryVerdict verdict;
    guint least_msec;
    guint most_msec;
  } cases[] = {
    { { .tries_made = 1, .status = 429, .left_msec = 60000 }, SBX_RETRY_AGAIN, 500, 750 },
    { { .tries_made = 2, .status = 503, .left_msec = 60000, .dice = 12345 }, SBX_RETRY_AGAIN, 1000, 1500 },
    { { .tries_made = 3, .status = 503, .left_msec = 60000 }, SBX_RETRY_AGAIN, 2000, 3000 },
    { { .tries_made = 4, .status = 503, .left_msec = 60000 }, SBX_RETRY_NO, 0, 0 },
    { { .tries_made = 1, .status = 502, .left_msec = 60000 }, SBX_RETRY_NO, 0, 0 },
    { { .tries_made = 1, .status = 504, .left_msec = 60000 }, SBX_RETRY_NO, 0, 0 },
    { { .tries_made = 1, .status = 502, .left_msec = 60000, .may_repeat = TRUE }, SBX_RETRY_AGAIN, 500, 750 },
    { { .tries_made = 1, .status = 504, .left_msec = 60000, .may_repeat = TRUE }, SBX_RETRY_AGAIN, 500, 750 },
    { { .tries_made = 1, .connection_refused = TRUE, .left_msec = 60000 }, SBX_RETRY_AGAIN, 500, 750 },
    { { .tries_made = 1, .left_msec = 60000, .may_repeat = TRUE }, SBX_RETRY_NO, 0, 0 },
    { { .tries_made = 1, .status = 500, .left_msec = 60000, .may_repeat = TRUE }, SBX_RETRY_NO, 0, 0 },
    { { .tries_made = 1, .status = 400, .left_msec = 60000, .may_repeat = TRUE }, SBX_RETRY_NO, 0, 0 },
    { { .tries_made = 1, .status = 408, .left_msec = 60000, .may_repeat = TRUE }, SBX_RETRY_NO, 0, 0 },
    { { .tries_made = 1, .status = 400, .retry_after = "1", .left_msec = 60000 }, SBX_RETRY_NO, 0, 0 },
    { { .tries_made = 1, .status = 429, .retry_after = "5", .left_msec = 60000 },
      SBX_RETRY_AGAIN,
      5000,
      5000 },
    { { .tries_made = 1, .status = 429, .retry_after = "0", .left_msec = 60000 }, SBX_RETRY_AGAIN, 50, 50 },
    { { .tries_made = 1, .status = 429, .retry_after = "60", .left_msec = 60000 },
      SBX_RETRY_TOO_LATE,
      60000,
      60000 },
    { { .tries_made = 4, .status = 429, .retry_after = "70", .left_msec = 60000 },
      SBX_RETRY_TOO_LATE,
      70000,
      70000 },
    { { .tries_made = 1,
        .status = 503,
        .retry_after = "Sun, 06 Nov 1994 08:49:40 GMT",
        .now_sec = NOW,
        .left_msec = 60000 },
      SBX_RETRY_AGAIN,
      3000,
      3000 },
    { { .tries_made = 1, .status = 503, .retry_after = "nonsense", .left_msec = 60000 },
      SBX_RETRY_AGAIN,
      500,
      750 },
    { { .tries_made = 1, .status = 503, .left_msec = 1200 }, SBX_RETRY_NO, 0, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint delay_msec = 0;

      g_test_message ("case %u", (guint) i);
      g_assert_cmpint (sbx_retry_decide (&cases[i].question, &delay_msec), ==, cases[i].verdict);
      g_assert_cmpuint (delay_msec, >=, cases[i].least_msec);
      g_assert_cmpuint (delay_msec, <=, cases[i].most_msec);
    }
}

static void
test_addresses (void)
{
  static const struct {
    const char *text;
    gboolean public;
  } cases[] = {
    { "8.8.8.8", TRUE },
    { "1.1.1.1", TRUE },
    { "172.15.0.1", TRUE },
    { "172.32.0.1", TRUE },
    { "100.63.0.1", TRUE },
    { "100.128.0.1", TRUE },
    { "2606:4700::1111", TRUE },
    { "::ffff:8.8.8.8", TRUE },
    { "64:ff9b::808:808", TRUE },
    { "0.0.0.0", FALSE },
    { "10.1.2.3", FALSE },
    { "100.64.0.1", FALSE },
    { "127.0.0.1", FALSE },
    { "127.255.0.1", FALSE },
    { "169.254.169.254", FALSE },
    { "172.16.0.1", FALSE },
    { "172.31.255.255", FALSE },
    { "192.168.1.1", FALSE },
    { "192.0.2.1", FALSE },
    { "198.18.0.1", FALSE },
    { "224.0.0.1", FALSE },
    { "240.0.0.1", FALSE },
    { "255.255.255.255", FALSE },
    { "::", FALSE },
    { "::1", FALSE },
    { "::ffff:127.0.0.1", FALSE },
    { "::ffff:169.254.169.254", FALSE },
    { "::127.0.0.1", FALSE },
    { "64:ff9b::a00:1", FALSE },
    { "2002:7f00:1::", FALSE },
    { "fe80::1", FALSE },
    { "fc00::1", FALSE },
    { "fd00:ec2::254", FALSE },
    { "ff02::1", FALSE },
    { "2001:db8::1", FALSE },
    { "2001::1", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      struct sockaddr_in in4 = { .sin_family = AF_INET };
      struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
      gboolean is4 = inet_pton (AF_INET, cases[i].text, &in4.sin_addr) == 1;

      g_test_message ("%s", cases[i].text);
      g_assert_true (is4 || inet_pton (AF_INET6, cases[i].text, &in6.sin6_addr) == 1);
      g_assert_cmpint (is4 ? sbx_address_is_public ((struct sockaddr *) &in4, sizeof in4)
                           : sbx_address_is_public ((struct sockaddr *) &in6, sizeof in6),
                       ==, cases[i].public);
    }
  g_assert_false (
    sbx_address_is_public (&(struct sockaddr){ .sa_family = AF_UNIX }, sizeof (struct sockaddr)));
}

/* The whole table: every state with every frame there is. */
static void
test_permits (void)
{
  static const SbxFrameType frames[] = {
    SBX_FRAME_CONFIG,  SBX_FRAME_START,  SBX_FRAME_TOOL_RESULT, SBX_FRAME_READY,    SBX_FRAME_TOOL_CALL,
    SBX_FRAME_REPLY,   SBX_FRAME_AUDIT,  SBX_FRAME_ANNOUNCE,    SBX_FRAME_SERVICE,  SBX_FRAME_CHARGE,
    SBX_FRAME_SCAN,    SBX_FRAME_RELOAD, SBX_FRAME_MODEL_CALL,  SBX_FRAME_MCP_CALL, SBX_FRAME_GRANTED,
    SBX_FRAME_CHARGED, SBX_FRAME_ANSWER, SBX_FRAME_CALL_CANCEL, SBX_FRAME_RELOADED
  };
  static const SbxFrameType allowed[_SBX_PEER_LAST + 1][4] = {
    [SBX_PEER_NEW] = { SBX_FRAME_ANNOUNCE, SBX_FRAME_SERVICE },
    [SBX_PEER_GRANT] = { SBX_FRAME_MODEL_CALL, SBX_FRAME_MCP_CALL, SBX_FRAME_CALL_CANCEL },
    [SBX_PEER_SERVICE] = { SBX_FRAME_CHARGE, SBX_FRAME_SCAN, SBX_FRAME_RELOAD },
  };

  for (guint state = 0; state <= _SBX_PEER_LAST; state++)
    for (gsize i = 0; i < G_N_ELEMENTS (frames); i++)
      {
        SbxPeerState next = (SbxPeerState) state;
        gboolean expected = FALSE;

        for (gsize j = 0; j < G_N_ELEMENTS (allowed[state]); j++)
          expected = expected || allowed[state][j] == frames[i];
        g_assert_cmpint (sbx_permit (&next, frames[i]), ==, expected);
        if (!expected || state != SBX_PEER_NEW)
          g_assert_cmpuint (next, ==, state);
      }
}

static void
test_requests (void)
{
  SbxConfig config = { .model_name = (char *) "m\"x",
                       .output_tokens = 9,
                       .output_token_field = (char *) "max_tokens",
                       .extra_body = (char *) "{\"a\":{\"b\":1}}",
                       .kept_members = (char *[]){ NULL } };
  static const char messages_text[] = "[{\"content\":\"hi\",\"role\":\"user\"}]";
  g_autoptr (GBytes) messages = g_bytes_new_static (messages_text, strlen (messages_text));
  g_autoptr (GBytes) none = g_bytes_new_static ("[]", 2);
  g_autoptr (GBytes) broken = g_bytes_new_static ("[],", 3);
  g_autoptr (GBytes) body = sbx_request_build (&config, messages, none);
  g_autofree char *text = g_strndup (g_bytes_get_data (body, NULL), g_bytes_get_size (body));

  g_assert_true (g_str_has_prefix (text, "{\"model\":\"m\\\"x\",\"messages\":[{"));
  g_assert_true (
    g_str_has_suffix (text, "}],\"tools\":[],\"stream\":false,\"max_tokens\":9,\"a\":{\"b\":1}}"));
  g_assert_null (sbx_request_build (&config, broken, NULL));
  g_assert_null (sbx_request_build (&config, messages, broken));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/egress/retry-after", test_retry_after);
  g_test_add_func ("/egress/retry", test_retry);
  g_test_add_func ("/egress/addresses", test_addresses);
  g_test_add_func ("/egress/permits", test_permits);
  g_test_add_func ("/egress/requests", test_requests);
  return g_test_run ();
}
