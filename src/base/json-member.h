/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a JSON node or a member of an object holds, by kind. What is missing, null or of another kind is no
 * mistake of the program's, and is told without json-glib's criticals: the caller says what it means.
 *
 * A node and an object may be NULL, so that calls can be nested. What is returned is borrowed from the tree.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

/* NULL where there is none of that kind. */
const char *sbx_json_node_text (JsonNode *node);
JsonObject *sbx_json_node_object (JsonNode *node);
JsonArray *sbx_json_node_list (JsonNode *node);
const char *sbx_json_member_text (JsonObject *object, const char *name);
JsonObject *sbx_json_member_object (JsonObject *object, const char *name);
JsonArray *sbx_json_member_list (JsonObject *object, const char *name);

/* FALSE where there is none of that kind; the result is then left alone. A double is no integer, even 1.0. */
gboolean sbx_json_node_integer (JsonNode *node, gint64 *ret_integer);
gboolean sbx_json_node_boolean (JsonNode *node, gboolean *ret_boolean);
gboolean sbx_json_member_integer (JsonObject *object, const char *name, gint64 *ret_integer);
gboolean sbx_json_member_boolean (JsonObject *object, const char *name, gboolean *ret_boolean);
