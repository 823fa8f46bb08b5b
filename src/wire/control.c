/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/control.h"

#include <string.h>

#include "base/text.h"
#include "base/utf16.h"
#include "wire/pack-private.h"
#include "wire/reply.h"

/* Room for lengths, counts and numbers beside the bounded texts. */
#define OVERHEAD_BYTES   256u
#define MAX_CONFIG_BYTES (1024u * 1024u)

const SbxFrameRule sbx_control_rules_broker[] = {
  { SBX_FRAME_CONFIG, MAX_CONFIG_BYTES, 0 },
  { SBX_FRAME_START, OVERHEAD_BYTES, 2 },
  { SBX_FRAME_TOOL_RESULT, SBX_MAX_ANSWER_BYTES + OVERHEAD_BYTES, 0 },
};
const gsize sbx_control_n_rules_broker = G_N_ELEMENTS (sbx_control_rules_broker);

const SbxFrameRule sbx_control_rules_sandboxd[] = {
  { SBX_FRAME_READY, 0, 0 },
  { SBX_FRAME_TOOL_CALL, SBX_MAX_CALL_BYTES + OVERHEAD_BYTES, 0 },
  { SBX_FRAME_TOOL_CANCEL, 0, 0 },
  { SBX_FRAME_REPLY, SBX_MAX_REPLY_BYTES + OVERHEAD_BYTES, 0 },
  { SBX_FRAME_NO_REPLY, OVERHEAD_BYTES, 0 },
  { SBX_FRAME_AUDIT, OVERHEAD_BYTES, 0 },
};
const gsize sbx_control_n_rules_sandboxd = G_N_ELEMENTS (sbx_control_rules_sandboxd);

/* --- CONFIG --- */

static void
control_server_free (gpointer data)
{
  SbxControlServer *self = data;

  g_free (self->name);
  g_strfreev (self->tools);
  g_free (self);
}

SbxControlConfig *
sbx_control_config_new (void)
{
  SbxControlConfig *self = g_new0 (SbxControlConfig, 1);

  self->call_budget = SBX_DEFAULT_CALL_BUDGET;
  self->tools = g_new0 (char *, 1);
  self->kept_members = g_new0 (char *, 1);
  self->servers = g_ptr_array_new_with_free_func (control_server_free);
  return self;
}

void
sbx_control_config_add_server (SbxControlConfig *self, const char *name, const char *const *tools)
{
  SbxControlServer *server = g_new0 (SbxControlServer, 1);

  server->name = g_strdup (name);
  server->tools = g_strdupv ((char **) tools);
  g_ptr_array_add (self->servers, server);
}

void
sbx_control_config_free (SbxControlConfig *self)
{
  if (self == NULL)
    return;
  g_strfreev (self->tools);
  g_strfreev (self->kept_members);
  g_ptr_array_unref (self->servers);
  g_free (self);
}

GByteArray *
sbx_control_config_encode (const SbxControlConfig *self)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_u32 (out, self->call_budget);
  sbx_pack_u8 (out, self->reply_at_newline ? 1 : 0);
  sbx_pack_texts (out, (const char *const *) self->tools);
  sbx_pack_texts (out, (const char *const *) self->kept_members);
  sbx_pack_u32 (out, self->servers->len);
  for (guint i = 0; i < self->servers->len; i++)
    {
      const SbxControlServer *server = g_ptr_array_index (self->servers, i);

      sbx_pack_text (out, server->name);
      sbx_pack_texts (out, (const char *const *) server->tools);
    }
  return out;
}

SbxControlConfig *
sbx_control_config_decode (GBytes *payload, GError **error)
{
  g_autoptr (SbxControlConfig) self = sbx_control_config_new ();
  SbxUnpack unpack;
  guint32 n_servers;

  sbx_unpack_payload (&unpack, payload);
  self->call_budget = sbx_unpack_u32 (&unpack);
  self->reply_at_newline = sbx_unpack_bool (&unpack);
  g_strfreev (self->tools);
  self->tools = sbx_unpack_texts (&unpack, SBX_MAX_TOOLS, SBX_MAX_NAME_BYTES);
  g_strfreev (self->kept_members);
  self->kept_members = sbx_unpack_texts (&unpack, SBX_MAX_KEPT_MEMBERS, SBX_MAX_FUNCTION_NAME_BYTES);
  n_servers = sbx_unpack_u32 (&unpack);
  if (n_servers > SBX_MAX_SERVERS)
    unpack.failed = TRUE;
  for (guint32 i = 0; i < n_servers && !unpack.failed; i++)
    {
      SbxControlServer *server = g_new0 (SbxControlServer, 1);

      g_ptr_array_add (self->servers, server);
      server->name = sbx_unpack_text (&unpack, SBX_MAX_NAME_BYTES);
      server->tools = sbx_unpack_texts (&unpack, SBX_MAX_TOOLS, SBX_MAX_FUNCTION_NAME_BYTES);
    }
  if (!sbx_unpack_end (&unpack, error))
    return NULL;
  return g_steal_pointer (&self);
}

/* --- START --- */

GByteArray *
sbx_control_start_encode (guint32 deadline_msec)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_u32 (out, deadline_msec);
  return out;
}

gboolean
sbx_control_start_decode (GBytes *payload, guint32 *ret_deadline_msec, GError **error)
{
  SbxUnpack unpack;
  guint32 deadline_msec;

  sbx_unpack_payload (&unpack, payload);
  deadline_msec = sbx_unpack_u32 (&unpack);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_deadline_msec = deadline_msec;
  return TRUE;
}

/* --- TOOL_CALL, TOOL_RESULT --- */

GByteArray *
sbx_control_tool_call_encode (const char *name, GBytes *input)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_text (out, name);
  sbx_pack_gbytes (out, input);
  return out;
}

gboolean
sbx_control_tool_call_decode (GBytes *payload, char **ret_name, GBytes **ret_input, GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (GBytes) input = NULL;
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  name = sbx_unpack_text (&unpack, SBX_MAX_NAME_BYTES);
  input = sbx_unpack_slice (&unpack, payload, SBX_MAX_CALL_BYTES);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_name = g_steal_pointer (&name);
  *ret_input = g_steal_pointer (&input);
  return TRUE;
}

GByteArray *
sbx_control_tool_result_encode (SbxFailure failure, GBytes *text)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_u8 (out, (guint8) failure);
  sbx_pack_bytes (out, text != NULL ? g_bytes_get_data (text, NULL) : NULL,
                  text != NULL ? g_bytes_get_size (text) : 0);
  return out;
}

gboolean
sbx_control_tool_result_decode (GBytes *payload, SbxFailure *ret_failure, GBytes **ret_text, GError **error)
{
  g_autoptr (GBytes) text = NULL;
  SbxFailure failure;
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  failure = sbx_unpack_failure (&unpack);
  text = sbx_unpack_slice (&unpack, payload, SBX_MAX_ANSWER_BYTES);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_failure = failure;
  *ret_text = g_steal_pointer (&text);
  return TRUE;
}

/* --- REPLY, NO_REPLY --- */

void
sbx_control_reply_clear (SbxControlReply *self)
{
  g_clear_pointer (&self->text, g_free);
}

GByteArray *
sbx_control_reply_encode (const SbxControlReply *self)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_u8 (out, self->ok ? 1 : 0);
  sbx_pack_text (out, self->text);
  sbx_pack_u8 (out, (guint8) self->compaction);
  sbx_pack_u8 (out, self->compaction_reason);
  sbx_pack_u32 (out, self->compaction_tokens_before);
  sbx_pack_u8 (out, (guint8) self->failure);
  sbx_pack_u8 (out, self->set_aside);
  return out;
}

gboolean
sbx_control_reply_decode (GBytes *payload, SbxControlReply *ret_reply, GError **error)
{
  g_auto (SbxControlReply) reply = { 0 };
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  reply.ok = sbx_unpack_bool (&unpack);
  reply.text = sbx_unpack_text (&unpack, SBX_MAX_REPLY_BYTES);
  reply.compaction = (SbxCompactionBy) sbx_unpack_enum (&unpack, _SBX_COMPACTION_LAST);
  reply.compaction_reason = sbx_unpack_u8 (&unpack);
  reply.compaction_tokens_before = sbx_unpack_u32 (&unpack);
  reply.failure = sbx_unpack_failure (&unpack);
  reply.set_aside = sbx_unpack_u8 (&unpack) & SBX_SET_ASIDE_ALL;
  if (!unpack.failed
      && (sbx_utf16_units (reply.text) > SBX_MAX_REPLY_UNITS || !sbx_reply_failure_is_word (reply.failure)
          || sbx_reply_reason_name (reply.compaction_reason) == NULL))
    unpack.failed = TRUE;
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_reply = reply;
  ret_reply->text = sbx_text_plain (reply.text);
  return TRUE;
}

GByteArray *
sbx_control_no_reply_encode (SbxFailure failure)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_u8 (out, (guint8) failure);
  return out;
}

gboolean
sbx_control_no_reply_decode (GBytes *payload, SbxFailure *ret_failure, GError **error)
{
  SbxFailure failure;
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  failure = sbx_unpack_failure (&unpack);
  if (failure != SBX_FAILURE_WORKER_FAILED && failure != SBX_FAILURE_REPLY_INVALID
      && failure != SBX_FAILURE_REPLY_TOO_LARGE)
    unpack.failed = TRUE;
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  *ret_failure = failure;
  return TRUE;
}

/* --- AUDIT --- */

GByteArray *
sbx_control_audit_encode (const SbxControlAudit *self)
{
  GByteArray *out = g_byte_array_new ();

  sbx_pack_u8 (out, (guint8) self->route);
  sbx_pack_text (out, self->name);
  sbx_pack_u16 (out, self->status);
  sbx_pack_u8 (out, (guint8) self->failure);
  sbx_pack_u16 (out, self->upstream_status);
  sbx_pack_u32 (out, self->request_bytes);
  sbx_pack_u32 (out, self->answer_bytes);
  sbx_pack_u32 (out, self->duration_msec);
  sbx_pack_u32 (out, self->prompt_tokens);
  sbx_pack_u32 (out, self->completion_tokens);
  sbx_pack_u32 (out, self->omitted);
  return out;
}

gboolean
sbx_control_audit_decode (GBytes *payload, SbxControlAudit *ret_audit, GError **error)
{
  g_autofree char *name = NULL;
  SbxControlAudit audit = { 0 };
  SbxUnpack unpack;

  sbx_unpack_payload (&unpack, payload);
  audit.route = (SbxRoute) sbx_unpack_enum (&unpack, _SBX_ROUTE_LAST);
  name = sbx_unpack_text (&unpack, SBX_MAX_NAME_BYTES);
  audit.status = sbx_unpack_u16 (&unpack);
  audit.failure = sbx_unpack_failure (&unpack);
  audit.upstream_status = sbx_unpack_u16 (&unpack);
  audit.request_bytes = sbx_unpack_u32 (&unpack);
  audit.answer_bytes = sbx_unpack_u32 (&unpack);
  audit.duration_msec = sbx_unpack_u32 (&unpack);
  audit.prompt_tokens = sbx_unpack_u32 (&unpack);
  audit.completion_tokens = sbx_unpack_u32 (&unpack);
  audit.omitted = sbx_unpack_u32 (&unpack);
  if (!sbx_unpack_end (&unpack, error))
    return FALSE;
  g_strlcpy (audit.name, name, sizeof audit.name);
  *ret_audit = audit;
  return TRUE;
}
