/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Lengths in UTF-16 code units, in which the wire contract counts (a character outside the first plane is
 * two). */
#pragma once

#include <glib.h>

/* text must be valid UTF-8. */
gsize sbx_utf16_units (const char *text);

/* The same of its first n_bytes bytes, which end behind a whole character. */
gsize sbx_utf16_units_of (const char *text, gsize n_bytes);
