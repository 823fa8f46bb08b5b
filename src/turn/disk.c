/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/disk.h"

#include <sys/statvfs.h>

gboolean
sbx_disk_is_low (const char *path, guint64 min_free_bytes)
{
  struct statvfs status;

  if (min_free_bytes == 0 || statvfs (path, &status) < 0)
    return FALSE;
  /* Btrfs counts no inodes and says 0 of 0. */
  return (guint64) status.f_bavail * status.f_frsize < min_free_bytes
         || (status.f_files > 0 && status.f_favail < SBX_MIN_FREE_INODES);
}
