/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Connects to a socket of this machine without waiting. */
#pragma once

#include <glib.h>

/* A connected, non-blocking, close-on-exec stream socket, or -1 with error set (G_IO_ERROR). A listener whose
 * backlog is full counts as not there: connect() on such a socket cannot be awaited (unix(7)). */
int sbx_unix_connect (const char *path, GError **error);
