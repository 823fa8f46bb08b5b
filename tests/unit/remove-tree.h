/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#pragma once

/* Removes the directory and all below it; follows no link. A test fails where that cannot be done. */
void remove_tree (const char *path);
