/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/grant.h"

#include <string.h>

#include "wire/pack-private.h"

#define OVERHEAD_BYTES      4096u
#define MAX_COMPLAINT_BYTES 4096u

const SbxFrameRule sbx_grant_rules_egress[] = {
  { SBX_FRAME_ANNOUNCE, 16384, 0 },
  { SBX_FRAME_SERVICE, 0, 0 },
  { SBX_FRAME_CHARGE, OVERHEAD_BYTES, 0 },
  { SBX_FRAME_SCAN, SBX_MAX_ANSWER_BYTES, 0 },
  { SBX_FRAME_RELOAD, 0, 0 },
  { SBX_FRAME_MODEL_CALL, SBX_MAX_CALL_BYTES + OVERHEAD_BYTES, 0 },
  { SBX_FRAME_MCP_CALL, SBX_MAX_CALL_BYTES + OVERHEAD_BYTES, 0 },
  { SBX_FRAME_CALL_CANCEL, 0, 0 },
};
const gsize sbx_grant_n_rules_egress = G_N_ELEMENTS (sbx_grant_rules_egress);

const SbxFrameRule sbx_grant_rules_client[] = {
  { SBX_FRAME_GRANTED, OVERHEAD_BYTES, 0 },
  { SBX_FRAME_CHARGED, OVERHEAD_BYTES, 0 },
  { SBX_FRAME_SCANNED, OVERHEAD_BYTES, 0 },
  { SBX_FRAME_RELOADED, MAX_COMPLAINT_BYTES + OVERHEAD_BYTES, 0 },
  { SBX_FRAME_ANSWER, SBX_MAX_ANSWER_BYTES + OVERHEAD_BYTES, 0 },
};
const gsize sbx_grant_n_rules_client = G_N_ELEMENTS (sbx_grant_rules_client);

/* --- ANNOUNCE --- */

SbxGrant *
sbx_grant_new (const char *turn, const char *channel, const char *speaker, guint32 deadline_msec,
               guint32 call_budget, const char *const *servers)
{
  SbxGrant *self = g_new0 (SbxGrant, 1);

  self->turn = g_strdup (turn);
  self->channel = g_strdup (channel);
  self->speaker = g_strdup (speaker);
  self->deadline_msec = deadline_msec;
  self->call_budget = call_budget;
  self->servers = servers != NULL ? g_strdupv ((char **) servers) : g_new0 (char *, 1);
  return self;
}

void
sbx_grant_free (SbxGrant *self)
{
  if (self == NULL)
    return;
  g_free (self->turn);
  g_free (self->channel);
  g_free (self->speaker);
  g_strfreev (self->servers);
  g_free (self);
}

GByteArray *
sbx_grant_encode (const SbxGrant *self)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_text (out, self->turn);
  sbx_pack_text (out, self->channel);
  sbx_pack_text (out, self->speaker);
  sbx_pack_u32 (out, self->deadline_msec);
  sbx_pack_u32 (out, self->call_budget);
  sbx_pack_texts (out, (const char *const *) self->servers);
  return out;
}

SbxGrant *
sbx_grant_decode (GBytes *payload, GError **error)
{
  g_autoptr (SbxGrant) self = g_new0 (SbxGrant, 1);
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  self->turn = sbx_unpack_text (&unpack, SBX_MAX_TURN_ID_BYTES);
  self->channel = sbx_unpack_text (&unpack, SBX_MAX_CHANNEL_BYTES);
  self->speaker = sbx_unpack_text (&unpack, SBX_MAX_SPEAKER_BYTES);
  self->deadline_msec = sbx_unpack_u32 (&unpack);
  self->call_budget = sbx_unpack_u32 (&unpack);
  self->servers = sbx_unpack_texts (&unpack, SBX_MAX_SERVERS, SBX_MAX_NAME_BYTES);
  if (!sbx_unpack_end (&unpack, error))
    return NULL;
  return g_steal_pointer (&self);
}

/* --- verdicts and the service connection --- */

GByteArray *
sbx_grant_verdict_encode (SbxFailure failure)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_u8 (out, (guint8) failure);
  return out;
}

gboolean
sbx_grant_verdict_decode (GBytes *payload, SbxFailure *ret_failure, GError **error)
{
  SbxFailure failure;
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  failure = sbx_unpack_failure (&unpack);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_failure = failure;
  return TRUE;
}

GByteArray *
sbx_grant_charge_encode (const char *turn)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_text (out, turn);
  return out;
}

gboolean
sbx_grant_charge_decode (GBytes *payload, char **ret_turn, GError **error)
{
  g_autofree char *turn = NULL;
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  turn = sbx_unpack_text (&unpack, SBX_MAX_TURN_ID_BYTES);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_turn = g_steal_pointer (&turn);
  return TRUE;
}

GByteArray *
sbx_grant_reloaded_encode (gboolean ok, const char *complaint)
{
  GByteArray *out = g_byte_array_new ();
  g_autofree char *text = complaint != NULL ? g_utf8_make_valid (complaint, -1) : NULL;
  gsize n_bytes = text != NULL ? strlen (text) : 0;

  sbx_pack_u8 (out, ok ? 1 : 0);
  if (n_bytes > MAX_COMPLAINT_BYTES)
    text[g_utf8_find_prev_char (text, text + MAX_COMPLAINT_BYTES) - text] = '\0';
  sbx_pack_text (out, text);
  return out;
}

gboolean
sbx_grant_reloaded_decode (GBytes *payload, gboolean *ret_ok, char **ret_complaint, GError **error)
{
  g_autofree char *complaint = NULL;
  gboolean ok;
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  ok = sbx_unpack_bool (&unpack);
  complaint = sbx_unpack_text (&unpack, MAX_COMPLAINT_BYTES);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_ok = ok;
  *ret_complaint = g_steal_pointer (&complaint);
  return TRUE;
}

/* --- calls --- */

GByteArray *
sbx_grant_model_call_encode (GBytes *messages, GBytes *tools)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_gbytes (out, messages);
  sbx_pack_u8 (out, tools != NULL ? 1 : 0);
  if (tools != NULL)
    sbx_pack_gbytes (out, tools);
  return out;
}

gboolean
sbx_grant_model_call_decode (GBytes *payload, GBytes **ret_messages, GBytes **ret_tools, GError **error)
{
  g_autoptr (GBytes) messages = NULL;
  g_autoptr (GBytes) tools = NULL;
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  messages = sbx_unpack_slice (&unpack, payload, SBX_MAX_CALL_BYTES);
  if (sbx_unpack_bool (&unpack))
    tools = sbx_unpack_slice (&unpack, payload, SBX_MAX_CALL_BYTES);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_messages = g_steal_pointer (&messages);
  *ret_tools = g_steal_pointer (&tools);
  return TRUE;
}

GByteArray *
sbx_grant_mcp_call_encode (const char *server, const char *tool, GBytes *arguments)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_text (out, server);
  sbx_pack_text (out, tool);
  sbx_pack_gbytes (out, arguments);
  return out;
}

gboolean
sbx_grant_mcp_call_decode (GBytes *payload, char **ret_server, char **ret_tool, GBytes **ret_arguments,
                           GError **error)
{
  g_autofree char *server = NULL;
  g_autofree char *tool = NULL;
  g_autoptr (GBytes) arguments = NULL;
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  server = sbx_unpack_text (&unpack, SBX_MAX_NAME_BYTES);
  tool = sbx_unpack_text (&unpack, SBX_MAX_FUNCTION_NAME_BYTES);
  arguments = sbx_unpack_slice (&unpack, payload, SBX_MAX_CALL_BYTES);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_server = g_steal_pointer (&server);
  *ret_tool = g_steal_pointer (&tool);
  *ret_arguments = g_steal_pointer (&arguments);
  return TRUE;
}

/* --- ANSWER --- */

void
sbx_grant_answer_clear (SbxGrantAnswer *self)
{
  g_clear_pointer (&self->json, g_bytes_unref);
}

GByteArray *
sbx_grant_answer_encode (const SbxGrantAnswer *self)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_u8 (out, (guint8) self->failure);
  sbx_pack_u16 (out, self->upstream_status);
  sbx_pack_u32 (out, self->retry_after_sec);
  sbx_pack_u32 (out, self->prompt_tokens);
  sbx_pack_u32 (out, self->completion_tokens);
  if (self->failure == SBX_FAILURE_NONE)
    sbx_pack_gbytes (out, self->json);
  return out;
}

gboolean
sbx_grant_answer_decode (GBytes *payload, SbxGrantAnswer *ret_answer, GError **error)
{
  g_auto (SbxGrantAnswer) answer = { 0 };
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  answer.failure = sbx_unpack_failure (&unpack);
  answer.upstream_status = sbx_unpack_u16 (&unpack);
  answer.retry_after_sec = sbx_unpack_u32 (&unpack);
  answer.prompt_tokens = sbx_unpack_u32 (&unpack);
  answer.completion_tokens = sbx_unpack_u32 (&unpack);
  if (answer.failure == SBX_FAILURE_NONE)
    answer.json = sbx_unpack_slice (&unpack, payload, SBX_MAX_ANSWER_BYTES);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_answer = answer;
  answer.json = NULL;
  return TRUE;
}
