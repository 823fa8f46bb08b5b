/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Sources of the main loop as members of the object that they call. */
#pragma once

#include <glib-unix.h>

/* Watches fd, attached to the thread-default context; the caller ends it with sbx_source_clear(). Its
 * callback must not run a main loop. */
GSource *sbx_source_watch_fd (int fd, GIOCondition condition, int priority, GUnixFDSourceFunc callback,
                              gpointer user_data);

/* Takes *source out of its context, gives up the owner's reference and sets it to NULL: its callback does not
 * run any more. Safe from inside that callback too. *source may be NULL. */
void sbx_source_clear (GSource **source);
