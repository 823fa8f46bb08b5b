/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Texts of a conversation: cutting by JSON bytes, blanks. Pure; texts are valid UTF-8.
 *
 * "JSON bytes" of a text are those of its compact JSON form with both quotes (wire contract, first page): the
 * unit in which every budget of a request is given, so that a text full of quotes cannot be twice as large as
 * planned.
 */
#pragma once

#include <glib.h>

/* Stands where a text was cut; the same every time, so that a model can learn it. */
#define SBX_CUT_MARKER "\n[The text was cut here; single entries can be read with memory_get.]"

/* text where it takes at most budget JSON bytes; else its longest beginning, of whole characters, for which
 * beginning and marker do. budget must have room for the marker. */
char *sbx_text_cut (const char *text, gsize budget_bytes);

/* Without leading and trailing blanks: those of Unicode and U+FEFF (the set that JavaScript's trim() knows).
 */
char *sbx_text_trim (const char *text);

/* Whether there is nothing but such blanks. */
gboolean sbx_text_is_blank (const char *text);
