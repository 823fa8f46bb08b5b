/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Looking through long texts, sixteen bytes at a time: nearly all bytes of a request need no more than that.
 */
#pragma once

#include <glib.h>

/* How many bytes from data on are ASCII other than NUL. */
gsize sbx_bytes_ascii (const char *data, gsize n_bytes);

/* How many bytes from data on stand for themselves within a JSON text, read or written: no quote, backslash
 * or control byte, and not the first byte of SBX_JSON_NUL, behind which others may follow that do. */
gsize sbx_bytes_json_plain (const char *data, gsize n_bytes);

/* As g_utf8_validate_len(), but several times as fast where most is ASCII: NUL is refused, *ret_end (or
 * NULL) is set to the first byte that does not fit, or to the end. data may be NULL where n_bytes is 0. */
gboolean sbx_bytes_are_utf8 (const char *data, gsize n_bytes, const char **ret_end);
