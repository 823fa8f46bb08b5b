/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* However the reads cut a head, the verdict is the same; what is accepted says the same again when it is
 * written anew. The first byte is the length of the reads. */
#include "fuzz.h"

#include <string.h>

#include "broker/http-head.h"
#include "broker/policy.h"

static SbxHttpVerdict
read_head (const char *data, gsize n_bytes, gsize step, SbxHttpHead *head, gsize *ret_n_head)
{
  SbxHttpVerdict verdict = SBX_HTTP_HEAD_MORE;
  gsize place = 0;

  for (gsize n = MIN (step, n_bytes); verdict == SBX_HTTP_HEAD_MORE; n = MIN (n + step, n_bytes))
    {
      verdict = sbx_http_head_find (data, n, &place);
      g_assert (place <= n);
      if (n == n_bytes)
        break;
    }
  *ret_n_head = place;
  return verdict == SBX_HTTP_HEAD_WHOLE ? sbx_http_head_parse (data, place, head) : verdict;
}

static void
append (GString *out, SbxHttpText text)
{
  for (gsize i = 0; i < text.n_bytes; i++)
    g_assert (text.data[i] == '\t' || g_ascii_isprint (text.data[i]));
  g_string_append_len (out, text.data, (gssize) text.n_bytes);
}

static GString *
write_head (const SbxHttpHead *head)
{
  GString *out = g_string_new (NULL);

  append (out, head->method);
  g_string_append_c (out, ' ');
  append (out, head->target);
  g_string_append (out, " HTTP/1.1\r\n");
  for (guint i = 0; i < head->n_fields; i++)
    {
      append (out, head->fields[i].name);
      g_string_append_c (out, ':');
      append (out, head->fields[i].value);
      g_string_append (out, "\r\n");
    }
  return g_string_append (out, "\r\n");
}

static void
check_policy (const SbxHttpHead *head)
{
  static const char *const tools[] = { "search", NULL };
  g_autoptr (SbxControlConfig) config = sbx_control_config_new ();
  g_autoptr (SbxPolicy) policy = NULL;
  SbxPolicyTarget target = { .route = SBX_ROUTE_NONE };
  guint status;

  sbx_control_config_add_server (config, "docs", tools);
  policy = sbx_policy_new (config);
  status = sbx_policy_check_head (policy, head, &target);
  g_assert (status == 0 || status == 400 || status == 403 || status == 404);
  g_assert ((status == 0) == (target.route != SBX_ROUTE_NONE));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  SbxHttpHead once;
  SbxHttpHead pieces;
  SbxHttpHead again;
  g_autoptr (GString) written = NULL;
  const char *text = (const char *) data + 1;
  gsize n_once = 0;
  gsize n_pieces = 0;
  gsize n_again = 0;
  SbxHttpVerdict verdict;

  if (n_bytes < 2)
    return -1;
  verdict = read_head (text, n_bytes - 1, n_bytes - 1, &once, &n_once);
  g_assert (read_head (text, n_bytes - 1, MAX (data[0], 1), &pieces, &n_pieces) == verdict);
  if (verdict != SBX_HTTP_HEAD_WHOLE)
    return 0;
  g_assert (n_once == n_pieces && n_once <= SBX_HTTP_MAX_HEAD_BYTES);
  written = write_head (&once);
  g_assert (read_head (written->str, written->len, written->len, &again, &n_again) == SBX_HTTP_HEAD_WHOLE);
  g_assert (n_again == written->len && again.n_fields == once.n_fields);
  g_assert (again.content_length == once.content_length);
  check_policy (&once);
  return 0;
}
