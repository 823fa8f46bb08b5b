/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* How the worker reads JSON: as GVariant (base/json-variant.h) through the strict gate, with a bound on the
 * count of values besides that on bytes, since one byte of JSON can cost hundreds in memory. Of two members
 * of one name the last counts (wire contract 1.1).
 */
#pragma once

#include <glib.h>

#define SBX_JSON_IN_MAX_VALUES 65536u

/* NULL with error set (SBX_JSON_ERROR). The root is the caller's: g_variant_unref(). */
GVariant *sbx_json_in_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error);

/* Members and elements by kind; NULL where there is none, or one of another kind. The object or list may
 * itself be NULL or of another kind, so that calls can be nested. What is returned is borrowed and lives as
 * long as the root. */
GVariant *sbx_json_in_member (GVariant *object, const char *name);
GVariant *sbx_json_in_object (GVariant *object, const char *name);
GVariant *sbx_json_in_list (GVariant *object, const char *name);
const char *sbx_json_in_text (GVariant *object, const char *name);
guint sbx_json_in_length (GVariant *list); /* 0 for no list */
GVariant *sbx_json_in_element (GVariant *list, guint i);

/* What a value is. NULL is none of them. */
gboolean sbx_json_in_is_object (GVariant *value);
gboolean sbx_json_in_is_list (GVariant *value);
gboolean sbx_json_in_is_null (GVariant *value);
const char *sbx_json_in_value_text (GVariant *value); /* borrowed; NULL for another kind */
