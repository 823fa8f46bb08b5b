/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* JSON as json-glib's tree, read through the gate (json-gate.h) and written by the rules of json-write.h. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

/* Gate and tree in one pass. NULL with error set. The root is the caller's: json_node_unref(). */
JsonNode *sbx_json_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error);

/* The same, but an object may have a member twice: the last one counts, and only it is in the tree. For
 * what other programs write and nobody has judged yet: answers of endpoints, and all that a worker reads. */
JsonNode *sbx_json_read_last_counts (const char *data, gsize n_bytes, gsize max_bytes, GError **error);

/* Appends node and all below it. Non-recursive. */
void sbx_json_write_node (GString *out, JsonNode *node);

/* node alone, as new bytes. */
GBytes *sbx_json_write_bytes (JsonNode *node);
