/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the broker lets through is bounded JSON that the egress lets through unchanged, with the operator's
 * kept members and without. */
#include "fuzz.h"

#include "base/json-gate.h"
#include "wire/bounds.h"
#include "wire/model-request.h"

static void
check_part (GBytes *part)
{
  gsize n_bytes;
  const char *data = g_bytes_get_data (part, &n_bytes);

  g_assert (sbx_json_gate (data, n_bytes, SBX_MAX_CALL_BYTES, NULL));
}

static void
try_body (GBytes *body, const char *const *kept_members)
{
  g_autoptr (GBytes) messages = NULL;
  g_autoptr (GBytes) tools = NULL;
  g_autoptr (GBytes) again_messages = NULL;
  g_autoptr (GBytes) again_tools = NULL;

  if (sbx_model_request_read_body (body, kept_members, &messages, &tools) != SBX_MODEL_REQUEST_FINE)
    {
      g_assert (messages == NULL && tools == NULL);
      return;
    }
  check_part (messages);
  if (tools != NULL)
    check_part (tools);
  g_assert (sbx_model_request_read_parts (messages, tools, kept_members, &again_messages, &again_tools)
            == SBX_MODEL_REQUEST_FINE);
  g_assert (g_bytes_equal (messages, again_messages));
  g_assert ((tools == NULL) == (again_tools == NULL));
  g_assert (tools == NULL || g_bytes_equal (tools, again_tools));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  static const char *const kept[] = { "reasoning_content", "x", "content", NULL };
  g_autoptr (GBytes) body = g_bytes_new (data, n_bytes);

  try_body (body, NULL);
  try_body (body, kept);
  return 0;
}
