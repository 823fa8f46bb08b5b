/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A file descriptor as an owned value: `g_auto(SbxFd) fd = -1;` closes it, g_steal_fd() hands it over.
 * (GLib 2.74 has no g_autofd.)
 */
#pragma once

#include <glib.h>

typedef int SbxFd;

/* Closes fd unless it is -1; keeps errno. */
void sbx_fd_close (SbxFd fd);

/* Sets O_NONBLOCK. Returns FALSE with error set (G_FILE_ERROR) when fcntl() refuses. */
gboolean sbx_fd_set_nonblocking (int fd, GError **error);

G_DEFINE_AUTO_CLEANUP_FREE_FUNC (SbxFd, sbx_fd_close, -1)
