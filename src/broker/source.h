/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Sources of the main loop for what a guest can make busy: they wait for their turn behind the links to
 * sandboxd and the egress, so that no flood delays the turn's end. The caller owns each source:
 * sbx_source_clear().
 */
#pragma once

#include <glib-unix.h>

GSource *sbx_source_watch (int fd, GIOCondition condition, GUnixFDSourceFunc callback, gpointer user_data);
GSource *sbx_source_after (guint msec, GSourceFunc callback, gpointer user_data);

/* Takes *source out of the loop and forgets it; NULL is fine. */
void sbx_source_clear (GSource **source);
