/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The verdict on a schema is the same when it is written and read again, and a local schema stays one
 * wherever a schema may stand. */
#include "fuzz.h"

#include "base/json-tree.h"
#include "wire/schema-refs.h"

#define MAX_BYTES (64u * 1024u)

static gboolean
is_local_inside (const char *before, GBytes *schema, const char *after)
{
  g_autoptr (GString) text = g_string_new (before);
  g_autoptr (JsonNode) root = NULL;

  g_string_append_len (text, g_bytes_get_data (schema, NULL), (gssize) g_bytes_get_size (schema));
  g_string_append (text, after);
  root = sbx_json_read (text->str, text->len, 16 * MAX_BYTES, NULL);
  return root != NULL && sbx_schema_is_local (root);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_autoptr (JsonNode) root = sbx_json_read ((const char *) data, n_bytes, MAX_BYTES, NULL);
  g_autoptr (GBytes) written = NULL;
  gboolean is_local;

  if (root == NULL)
    return 0;
  is_local = sbx_schema_is_local (root);
  written = sbx_json_write_bytes (root);
  g_assert (is_local_inside ("", written, "") == is_local);
  /* One deeper than the gate allows is refused, so only this way round. A list may stand where "not" is, but
   * is none. */
  g_assert (is_local || JSON_NODE_HOLDS_ARRAY (root) || !is_local_inside ("{\"not\":", written, "}"));
  g_assert (is_local || !is_local_inside ("{\"properties\":{\"$ref\":", written, "}}"));
  g_assert (is_local || !is_local_inside ("{\"allOf\":[true,", written, "]}"));
  return 0;
}
