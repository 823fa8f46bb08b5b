/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The strict JSON gate: nothing that an untrusted hand wrote reaches json-glib but through it.
 *
 * json-glib 1.6 overflows its stack on deep nesting, reads comments and single quotes, cuts texts at an escaped NUL and
 * turns long integers into others; 1.10 still does the last two. So the gate, non-recursive and without allocation that
 * grows with depth, lets through only RFC 8259 texts that every json-glib reads alike:
 * one root, at most max_depth deep, at most max_bytes long, valid UTF-8, no raw control byte in a text, no repeated member
 * name (compared after unescaping), integers that fit 64 bits, numbers that fit a double, no escaped NUL, no lone
 * surrogate. See the implementation's table test for each rule's cases.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#define SBX_JSON_MAX_DEPTH 32u

#define SBX_JSON_ERROR (sbx_json_error_quark ())
GQuark sbx_json_error_quark (void);
typedef enum {
  SBX_JSON_ERROR_TOO_LARGE,
  SBX_JSON_ERROR_TOO_DEEP,
  SBX_JSON_ERROR_SYNTAX,
  SBX_JSON_ERROR_ENCODING, /* UTF-8, surrogates, NUL */
  SBX_JSON_ERROR_REPEATED_NAME,
  SBX_JSON_ERROR_NUMBER,
} SbxJsonError;

/* Whether data may be read. FALSE with error set (SBX_JSON_ERROR); the text names the rule and the byte offset, never
 * what stands there. */
gboolean sbx_json_gate (const char *data, gsize n_bytes, gsize max_bytes, GError **error);

/* Gate, then json-glib. NULL with error set. The root is the caller's: json_node_unref(). */
JsonNode *sbx_json_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error);
