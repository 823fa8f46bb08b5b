/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Tells systemd that the main loop turns (WatchdogSec=, sd_watchdog_enabled(3)). */
#pragma once

#include <glib.h>

/* Starts telling, at half of what systemd expects; nothing where it expects none. Returns the source's id or
 * 0. */
guint sbx_watchdog_start (void);
