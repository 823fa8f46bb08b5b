/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Whether a file system has room for one more turn (MinFree=). */
#pragma once

#include <glib.h>

/* A turn that needs more files than this at once has other limits to fear. */
#define SBX_MIN_FREE_INODES 1024u

/* TRUE where less than min_free_bytes, or than SBX_MIN_FREE_INODES where the file system counts them, are
 * left below path for the service. min_free_bytes 0: never. A file system that cannot be asked is not low. */
gboolean sbx_disk_is_low (const char *path, guint64 min_free_bytes);
