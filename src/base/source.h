/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Sources of the main loop as members of the object that they call. */
#pragma once

#include <glib-unix.h>

/* Watches fd, attached to the thread-default context; the caller ends it with sbx_source_clear(). Errors and
 * hang-ups are told whatever the condition is. As g_unix_fd_source_new(), but it costs the loop no system
 * call beside its poll; for that its callback must not run a main loop, and only the loop's own thread may
 * touch it.
 */
GSource *sbx_source_watch_fd (int fd, GIOCondition condition, int priority, GUnixFDSourceFunc callback,
                              gpointer user_data);

/* From the next turn of the loop on it waits for this instead. 0: for errors and hang-ups only. */
void sbx_source_watch_set (GSource *source, GIOCondition condition);

/* Calls callback from the loop, as soon as an event of the usual priority is due: for what must not happen
 * within the caller. Attached as above; the caller's. */
GSource *sbx_source_soon (GSourceFunc callback, gpointer user_data);

/* Takes *source out of its context, gives up the owner's reference and sets it to NULL: its callback does not
 * run any more. Safe from inside that callback too. *source may be NULL. */
void sbx_source_clear (GSource **source);
