/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Cuts a reply into parts that a chat service takes, each of at most so many UTF-16 code units. Pure.
 *
 * A part ends between paragraphs, lines or words where that is possible, and never inside a character with
 * its marks. A fenced code block (CommonMark 0.31, 4.5) stays in one part where it fits; where it does not,
 * it is closed at the end of a part and opened again in the next, so that every part is whole by itself.
 * Blanks and line ends at a cut are left out, and so are parts with nothing but blanks.
 */
#pragma once

#include <glib.h>

/* Room for a fence, its language and some text. */
#define SBX_MIN_PART_UNITS 64u

/* text is valid UTF-8; max_units is at least SBX_MIN_PART_UNITS. The caller's; empty for a blank text. */
GStrv sbx_split_reply (const char *text, guint max_units);
