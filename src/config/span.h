/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Time spans and sizes as systemd writes them (systemd.time(7), systemd.resource-control(5)); libsystemd has
 * no public parser for them. Pure. Each returns FALSE, leaving the result alone, for anything else and for
 * what does not fit.
 */
#pragma once

#include <glib.h>

/* "90", "90s", "1min 30s", "2h", "1.5s", "250ms"; a bare number is seconds. Units us, ms, s (sec, second,
 * seconds), m (min, minute, minutes), h (hr, hour, hours), d (day, days), w (week, weeks). */
gboolean sbx_span_parse (const char *text, guint64 *ret_usec);

/* "512M", "1.5G", "65536"; K, M, G, T, each also followed by B or iB, are powers of 1,024. */
gboolean sbx_size_parse (const char *text, guint64 *ret_bytes);

/* "10/1min", or "off" for 0 and 0. */
gboolean sbx_rate_parse (const char *text, guint64 *ret_number, guint64 *ret_usec);

/* yes, true, on, 1 and no, false, off, 0 (case ignored). */
gboolean sbx_boolean_parse (const char *text, gboolean *ret_value);

/* The number of single edits between two texts, for "did you mean". Each at most 64 bytes long, else
 * G_MAXUINT. */
guint sbx_edit_distance (const char *a, const char *b);
