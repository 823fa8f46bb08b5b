/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Points in time as journalctl's --since= and --until= take them (systemd.time(7)); libsystemd has no public
 * parser for them. Pure. */
#pragma once

#include <glib.h>

/* "now", "today", "yesterday", "tomorrow", "2026-11-29", "2026-11-29 16:30[:15]", "16:30[:15]", "@SECONDS",
 * "-1h 30min", "+5min", "2h ago". now is the moment that they are counted from, in the time zone that they
 * are in. FALSE, leaving the result alone, for anything else. */
gboolean sbx_timestamp_parse (const char *text, GDateTime *now, gint64 *ret_usec);
