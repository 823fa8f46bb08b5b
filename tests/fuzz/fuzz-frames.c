/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A frame as a receiver gets it: head, then payload. A payload that a decoder takes has one form only:
 * encoded again, it is the same bytes. */
#include "fuzz.h"

#include <string.h>

#include "wire/control.h"
#include "wire/grant.h"

/* Takes encoded. */
static void
assert_same (GBytes *payload, GByteArray *encoded)
{
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (encoded);

  g_assert (g_bytes_equal (payload, bytes));
}

static void
try_config (GBytes *payload)
{
  g_autoptr (SbxControlConfig) config = sbx_control_config_decode (payload, NULL);

  if (config != NULL)
    assert_same (payload, sbx_control_config_encode (config));
}

static void
try_tool_call (GBytes *payload)
{
  g_autofree char *name = NULL;
  g_autoptr (GBytes) input = NULL;

  if (sbx_control_tool_call_decode (payload, &name, &input, NULL))
    assert_same (payload, sbx_control_tool_call_encode (name, input));
}

static void
try_tool_result (GBytes *payload)
{
  SbxFailure failure;
  g_autoptr (GBytes) text = NULL;

  if (sbx_control_tool_result_decode (payload, &failure, &text, NULL))
    assert_same (payload, sbx_control_tool_result_encode (failure, text));
}

static void
try_reply (GBytes *payload)
{
  g_auto (SbxControlReply) reply = { 0 };

  /* Its text is made fit for the bus, so it may differ; never in length beyond the bound. */
  if (sbx_control_reply_decode (payload, &reply, NULL))
    {
      g_assert (g_utf8_validate (reply.text, -1, NULL));
      g_assert (strlen (reply.text) <= SBX_MAX_REPLY_BYTES);
    }
}

static void
try_audit (GBytes *payload)
{
  SbxControlAudit audit;

  if (sbx_control_audit_decode (payload, &audit, NULL))
    assert_same (payload, sbx_control_audit_encode (&audit));
}

static void
try_grant (GBytes *payload)
{
  g_autoptr (SbxGrant) grant = sbx_grant_decode (payload, NULL);

  if (grant != NULL)
    assert_same (payload, sbx_grant_encode (grant));
}

static void
try_calls (GBytes *payload)
{
  g_autoptr (GBytes) messages = NULL;
  g_autoptr (GBytes) tools = NULL;
  g_autoptr (GBytes) arguments = NULL;
  g_autofree char *server = NULL;
  g_autofree char *tool = NULL;

  if (sbx_grant_model_call_decode (payload, &messages, &tools, NULL))
    assert_same (payload, sbx_grant_model_call_encode (messages, tools));
  if (sbx_grant_mcp_call_decode (payload, &server, &tool, &arguments, NULL))
    assert_same (payload, sbx_grant_mcp_call_encode (server, tool, arguments));
}

static void
try_answer (GBytes *payload)
{
  g_auto (SbxGrantAnswer) answer = { 0 };

  if (sbx_grant_answer_decode (payload, &answer, NULL))
    assert_same (payload, sbx_grant_answer_encode (&answer));
}

static void
try_small (GBytes *payload)
{
  g_autofree char *turn = NULL;
  g_autofree char *complaint = NULL;
  SbxFailure failure;
  guint32 deadline_msec;
  gboolean ok;

  if (sbx_control_start_decode (payload, &deadline_msec, NULL))
    assert_same (payload, sbx_control_start_encode (deadline_msec));
  if (sbx_control_no_reply_decode (payload, &failure, NULL))
    assert_same (payload, sbx_control_no_reply_encode (failure));
  if (sbx_grant_verdict_decode (payload, &failure, NULL))
    assert_same (payload, sbx_grant_verdict_encode (failure));
  if (sbx_grant_charge_decode (payload, &turn, NULL))
    assert_same (payload, sbx_grant_charge_encode (turn));
  (void) sbx_grant_reloaded_decode (payload, &ok, &complaint, NULL);
}

/* The head against each table; what is read is written the same. */
static void
try_head (const uint8_t *data)
{
  const struct {
    const SbxFrameRule *rules;
    gsize n_rules;
  } tables[] = {
    { sbx_control_rules_broker, sbx_control_n_rules_broker },
    { sbx_control_rules_sandboxd, sbx_control_n_rules_sandboxd },
    { sbx_grant_rules_egress, sbx_grant_n_rules_egress },
    { sbx_grant_rules_client, sbx_grant_n_rules_client },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      SbxFrameHead head;
      guint8 bytes[SBX_FRAME_HEAD_BYTES];
      const SbxFrameRule *rule = sbx_frame_head_read (data, tables[i].rules, tables[i].n_rules, &head, NULL);

      if (rule == NULL)
        continue;
      g_assert (head.n_bytes <= rule->max_bytes);
      sbx_frame_head_write (&head, bytes);
      g_assert (memcmp (bytes, data, sizeof bytes) == 0);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_autoptr (GBytes) payload = NULL;

  if (n_bytes < SBX_FRAME_HEAD_BYTES)
    return -1;
  try_head (data);
  /* All decoders get it, whatever the head says: the type is not what makes one safe. */
  payload = g_bytes_new (data + SBX_FRAME_HEAD_BYTES, n_bytes - SBX_FRAME_HEAD_BYTES);
  try_config (payload);
  try_tool_call (payload);
  try_tool_result (payload);
  try_reply (payload);
  try_audit (payload);
  try_grant (payload);
  try_calls (payload);
  try_answer (payload);
  try_small (payload);
  return 0;
}
