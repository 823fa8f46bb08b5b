/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One daemon on one state directory: a second would lose the first one's changes. */
#pragma once

#include <glib.h>

/* Locks DIRECTORY/lock for the life of the process. Gives the descriptor (keep it open), or -1 with error set
 * (G_IO_ERROR_BUSY names the holder's pid). */
int sbx_state_lock_take (const char *directory, GError **error);
