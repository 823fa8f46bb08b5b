/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Sources of the main loop for what a guest can make busy: they wait for their turn behind the links to
 * sandboxd and the egress, so that no flood delays the turn's end. Attached when they are given back; the
 * caller ends each with sbx_source_clear().
 */
#pragma once

#include <glib-unix.h>

#include "base/source.h"

GSource *sbx_source_watch (int fd, GIOCondition condition, GUnixFDSourceFunc callback, gpointer user_data);
GSource *sbx_source_after (guint msec, GSourceFunc callback, gpointer user_data);
