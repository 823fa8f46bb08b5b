/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Connects to a socket of this machine without waiting. */
#pragma once

#include <glib.h>

/* A connected, non-blocking, close-on-exec stream socket, or -1 with error set (G_IO_ERROR): "PATH: reason".
 * G_IO_ERROR_WOULD_BLOCK: the listener's backlog is full. No event tells of room in it (unix(7)), so who
 * wants to try again does so after a pause. */
int sbx_unix_connect (const char *path, GError **error);
