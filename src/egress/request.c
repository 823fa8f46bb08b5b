/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/request.h"

#include <string.h>

#include "base/json-write.h"
#include "wire/model-request.h"

static void
append_bytes (GString *out, GBytes *bytes)
{
  gsize n_bytes;
  const char *data = g_bytes_get_data (bytes, &n_bytes);

  g_string_append_len (out, data, (gssize) n_bytes);
}

GBytes *
sbx_request_build (const SbxConfig *config, GBytes *messages, GBytes *tools)
{
  g_autoptr (GBytes) checked_messages = NULL;
  g_autoptr (GBytes) checked_tools = NULL;
  g_autoptr (GString) body = NULL;

  if (sbx_model_request_read_parts (messages, tools, (const char *const *) config->kept_members,
                                    &checked_messages, &checked_tools)
      != SBX_MODEL_REQUEST_FINE)
    return NULL;

  body = g_string_new ("{\"model\":");
  sbx_json_write_text (body, config->model_name, -1);
  g_string_append (body, ",\"messages\":");
  append_bytes (body, checked_messages);
  if (checked_tools != NULL)
    {
      g_string_append (body, ",\"tools\":");
      append_bytes (body, checked_tools);
    }
  g_string_append (body, ",\"stream\":false,");
  sbx_json_write_text (body, config->output_token_field, -1);
  g_string_append_printf (body, ":%" G_GUINT64_FORMAT, config->output_tokens);
  /* ExtraBody= was read by the gate and written anew: an object without any of these names. */
  if (strcmp (config->extra_body, "{}") != 0)
    g_string_append_printf (body, ",%.*s", (int) strlen (config->extra_body) - 2, config->extra_body + 1);
  g_string_append_c (body, '}');
  return g_string_free_to_bytes (g_steal_pointer (&body));
}
