/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The gate and the reader give the same verdict; what is read is written so that it passes the gate and is
 * then written the same, from either kind of tree; no text in the tree is invalid UTF-8. */
#include "fuzz.h"

#include <string.h>

#include "base/json-gate.h"
#include "base/json-tree.h"
#include "base/json-variant.h"

#define MAX_BYTES (256u * 1024u)

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  const char *text = (const char *) data;
  g_autoptr (GError) gate_error = NULL;
  g_autoptr (GError) read_error = NULL;
  gboolean fine = sbx_json_gate (text, n_bytes, MAX_BYTES, &gate_error);
  g_autoptr (JsonNode) root = sbx_json_read (text, n_bytes, MAX_BYTES, &read_error);
  g_autoptr (JsonNode) lax = sbx_json_read_last_counts (text, n_bytes, MAX_BYTES, NULL);
  g_autoptr (GVariant) variant = sbx_json_variant_read (text, n_bytes, MAX_BYTES, NULL);
  g_autoptr (GString) third = g_string_new (NULL);
  g_autoptr (JsonNode) again = NULL;
  g_autoptr (GBytes) first = NULL;
  g_autoptr (GBytes) second = NULL;
  gsize n_written;
  const char *written;

  g_assert (fine == (root != NULL));
  g_assert (fine == (gate_error == NULL) && fine == (read_error == NULL));
  g_assert (!fine || lax != NULL);
  g_assert ((variant != NULL) == (lax != NULL));
  if (lax == NULL)
    return 0;

  first = sbx_json_write_bytes (lax);
  written = g_bytes_get_data (first, &n_written);
  g_assert (g_utf8_validate_len (written, n_written, NULL));
  again = sbx_json_read (written, n_written, 16 * MAX_BYTES, NULL);
  g_assert (again != NULL);
  second = sbx_json_write_bytes (again);
  g_assert (g_bytes_equal (first, second));
  sbx_json_variant_write (third, variant);
  g_assert (third->len == n_written && memcmp (third->str, written, n_written) == 0);
  return 0;
}
