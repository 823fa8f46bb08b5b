/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The texts and numbers of compact JSON by RFC 8259 (json-tree.h writes whole trees), since json-glib's
 * generator writes invalid JSON for some.
 *
 * Texts: only `"` `\` and U+0000-U+001F are escaped (\b \t \n \f \r short, the others \u00xx), everything
 * else is raw UTF-8. SBX_JSON_NUL (json-gate.h) is written as \u0000; invalid UTF-8, a NUL byte inside
 * included, as U+FFFD. Integers as they are, doubles with the fewest digits that read back equal, in the
 * form that JavaScript gives them; -0 is 0; one that is not finite, which the gate lets nobody send, is null.
 */
#pragma once

#include <glib.h>

/* Appends value as a JSON text with both quotes. n_bytes may be -1 for a NUL-terminated value. */
void sbx_json_write_text (GString *out, const char *value, gssize n_bytes);

/* The number of bytes that sbx_json_write_text() would append: the contract's "JSON bytes" of a text. */
gsize sbx_json_text_bytes (const char *value, gssize n_bytes);

/* Appends number as a JSON number. */
void sbx_json_write_double (GString *out, double number);
