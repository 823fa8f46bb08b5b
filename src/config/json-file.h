/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Reading of one JSON object from a configuration file, member by member, with messages for a person. Each
 * getter returns FALSE with error set (SBX_CONFIG_ERROR_VALUE) for a member of the wrong kind; a missing
 * optional one leaves the result alone.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "config/config.h"
#include "config/search.h"
#include "config/tools-d.h"

/* The file's root object behind the JSON gate. NULL with error set. Free with json_node_unref(). */
JsonNode *sbx_json_file_parse (const SbxConfigFile *file, GError **error);

gboolean sbx_json_file_text (const char *path, JsonObject *object, const char *name, gboolean required,
                             char **ret_text, GError **error);
gboolean sbx_json_file_boolean (const char *path, JsonObject *object, const char *name, gboolean *ret_value,
                                GError **error);
gboolean sbx_json_file_number (const char *path, JsonObject *object, const char *name, guint minimum,
                               guint maximum, guint *ret_number, GError **error);

/* name (by the 48-character rule), description and parameters (a local schema) of a tool. */
gboolean sbx_json_file_spec (const char *path, JsonObject *object, SbxToolSpec *spec, GError **error);
void sbx_tool_spec_clear (SbxToolSpec *spec);

/* Sets SBX_CONFIG_ERROR_VALUE: path, member, what it must be. Returns FALSE, so that a caller can pass it on.
 */
gboolean sbx_json_file_refuse (const char *path, const char *member, const char *right, GError **error);

/* Warns of members that are not in known (NULL-terminated). */
void sbx_json_file_warn (const char *path, JsonObject *object, const char *const *known, GPtrArray *warnings);
