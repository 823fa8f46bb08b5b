/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* How the worker reads JSON: the strict gate, and a bound on the count of values besides that on bytes, since
 * one byte of JSON can cost a hundred in memory; and members by kind. Of two members of one name the last
 * counts (wire contract 1.1).
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#define SBX_JSON_IN_MAX_VALUES 65536u

/* NULL with error set (SBX_JSON_ERROR). The root is the caller's. */
JsonNode *sbx_json_in_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error);

/* Members by kind, without json-glib's criticals for a wrong one. The text is NULL, the node NULL, where the
 * member is missing or of another kind. All borrowed from the object, which may be NULL. */
const char *sbx_json_in_text (JsonObject *object, const char *name);
JsonObject *sbx_json_in_object (JsonObject *object, const char *name);
JsonArray *sbx_json_in_list (JsonObject *object, const char *name);

/* The node as text, object or list, or NULL for another kind. Borrowed. */
const char *sbx_json_in_node_text (JsonNode *node);
JsonObject *sbx_json_in_node_object (JsonNode *node);
