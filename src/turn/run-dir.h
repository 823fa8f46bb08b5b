/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A turn's directory with the socket on which its broker listens; mounted read-only into the worker's
 * container.
 *
 * Mode 0750 with the worker's group, the socket 0660, below a parent that only sandboxd (and dockerd, which
 * is root) can enter. Nobody but sandboxd writes there, so removing it is two calls.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

/* wire contract 2.1; sun_path would take 107. */
#define SBX_RUN_DIR_MAX_PATH 100u

/* Whether root leaves room for a turn's socket. FALSE with error set (G_IO_ERROR), which names the number. */
gboolean sbx_run_dir_check_root (const char *root, GError **error);

/* Makes ROOT/turn-TURN and a listening socket in it. Gives the directory's path (g_free()) and the listener,
 * or NULL with error set (G_IO_ERROR) and nothing left behind. */
char *
sbx_run_dir_make (const char *root, const char *turn, gid_t worker_gid, int *ret_listener, GError **error);

/* Removes the directory; one that is gone already is fine. FALSE with error set. */
gboolean sbx_run_dir_remove (const char *path, GError **error);
