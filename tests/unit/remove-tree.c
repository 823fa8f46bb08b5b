/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "remove-tree.h"

#include <ftw.h>
#include <glib.h>
#include <stdio.h>

#define MAX_OPEN 16

static int
on_entry (const char *path, const struct stat *st, int kind, struct FTW *walk)
{
  return remove (path);
}

void
remove_tree (const char *path)
{
  g_assert_no_errno (nftw (path, on_entry, MAX_OPEN, FTW_DEPTH | FTW_PHYS));
}
