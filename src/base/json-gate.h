/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The strict JSON gate: nothing that an untrusted hand wrote becomes a tree but through it.
 *
 * json-glib's own parser is not used: 1.6 overflows its stack on deep nesting, reads comments and single
 * quotes, cuts texts at an escaped NUL and turns long integers into others; 1.10 still does the last two, in
 * strict mode too. So one scanner of ours (json-scan.h), non-recursive and with a fixed stack, holds a text
 * against RFC 8259 and the rules below, and json-glib lends only its tree (json-tree.h), or GLib its
 * own types (json-variant.h). All versions then give the same result by construction.
 *
 * Let through: one root, at most SBX_JSON_MAX_DEPTH deep, at most max_bytes long, valid UTF-8, no raw control
 * byte in a text, at most SBX_JSON_MAX_MEMBERS members an object and no repeated name (compared after
 * unescaping; some readers let the last count, and say so), numbers that are finite as doubles.
 *
 * In a tree: an integer that fits 64 bits is an integer, another number is the nearest double ("-0" too).
 * Half of a surrogate pair is U+FFFD. An escaped NUL, which a C string cannot hold, is SBX_JSON_NUL, and
 * json-write makes "\u0000" of it again; a U+FDD0 that came in is U+FFFD, so neither can pass for the other.
 * What leaves for the bus, where noncharacters are refused, goes through base/text.h.
 */
#pragma once

#include <glib.h>

#define SBX_JSON_MAX_DEPTH 32u
/* json-glib's objects hash names with a function whose collisions anyone can make, and json-variant compares
 * each with those before it; this bounds what they cost. */
#define SBX_JSON_MAX_MEMBERS 1024u

/* U+FDD0, a noncharacter: set aside by Unicode for use inside a program. */
#define SBX_JSON_NUL "\xef\xb7\x90"

#define SBX_JSON_ERROR (sbx_json_error_quark ())
GQuark sbx_json_error_quark (void);
typedef enum {
  SBX_JSON_ERROR_TOO_LARGE,
  SBX_JSON_ERROR_TOO_DEEP,
  SBX_JSON_ERROR_SYNTAX,
  SBX_JSON_ERROR_ENCODING, /* not UTF-8 */
  SBX_JSON_ERROR_REPEATED_NAME,
  SBX_JSON_ERROR_NUMBER,
  SBX_JSON_ERROR_TOO_MANY_MEMBERS,
} SbxJsonError;

/* Whether data may be read. FALSE with error set (SBX_JSON_ERROR); the text names the rule and the byte
 * offset, never what stands there. */
gboolean sbx_json_gate (const char *data, gsize n_bytes, gsize max_bytes, GError **error);
