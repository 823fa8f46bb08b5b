/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* An fsync() in the place of the C library's: it stands still when told to, or fails. */
#pragma once

#include <glib.h>

/* From now on fsync() waits, until slow_disk_go(). */
void slow_disk_stop (void);
void slow_disk_go (void);
/* The next n fail with EIO. */
void slow_disk_fail (guint n);
/* How many have been begun in this program. */
guint slow_disk_count (void);
