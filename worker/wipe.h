/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Emptying a workspace: what a guest's worker made can have any mode, name and depth, and may hold links out
 * of it. */
#pragma once

#include <glib.h>

/* Removes everything in the directory, which itself stays. Follows no link and enters no other file system;
 * needs two descriptors, however deep the tree is: directories are moved up before they are emptied. Returns
 * 0 or the negative errno of the first thing that could not be removed, the rest having been tried all the
 * same. */
int sbx_wipe (const char *directory);
