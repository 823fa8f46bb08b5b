/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* From an error on the bus to a sentence for the person at the terminal, and sandboxctl's exit status. Pure.
 */
#pragma once

#include <glib.h>

/* The exit statuses of sandboxctl(1). */
typedef enum {
  SBX_EXIT_GOOD = 0,
  SBX_EXIT_FAILED = 1, /* for a reason with no status of its own */
  SBX_EXIT_USAGE = 2,
  SBX_EXIT_DOWN = 3, /* sandboxd, or the bus, cannot be reached */
  SBX_EXIT_DENIED = 4,
  SBX_EXIT_NOT_SANDBOXED = 5,
  SBX_EXIT_TURN_FAILED = 6, /* the turn was accepted and ended without a reply */
  SBX_EXIT_NOT_FOUND = 7,   /* no such turn or channel */
  SBX_EXIT_BUSY = 8,        /* queue full, rate limited, disk low: try again later */
} SbxExit;

/* name: the D-Bus error's; message: its text, NULL for none. what: what was tried, such as "run a turn".
 * Returns one or two lines without a final newline; the caller frees them. */
char *sbx_ctl_explain (const char *name, const char *message, const char *what, SbxExit *ret_exit);
