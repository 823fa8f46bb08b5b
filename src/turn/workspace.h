/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A channel's own directory: what its workers may keep.
 *
 * It belongs to sandboxd with the worker's group, mode 0770, below a parent that only sandboxd can enter. It
 * is never followed through a link and never mended: a foreign owner or another mode is a named error, for a
 * person to look at.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

#define SBX_WORKSPACE_ERROR (sbx_workspace_error_quark ())
GQuark sbx_workspace_error_quark (void);
typedef enum {
  SBX_WORKSPACE_ERROR_UNSAFE,
  SBX_WORKSPACE_ERROR_FULL, /* no space or inodes left */
  SBX_WORKSPACE_ERROR_IO,
} SbxWorkspaceError;

/* Checks or makes the workspaces' parent. Blocking, once at start. */
gboolean sbx_workspace_check_root (const char *root, GError **error);

/* Which directory it is, whatever its name is later. */
typedef struct {
  dev_t device;
  ino_t inode;
} SbxWorkspaceId;

/* The absolute path of the channel's workspace (channel_hash: 64 hex digits), made where it is missing,
 * checked in any case. Free with g_free(). NULL with error set. ret_id may be NULL. */
char *sbx_workspace_open (const char *root, const char *channel_hash, gid_t worker_gid,
                          SbxWorkspaceId *ret_id, GError **error);

/* Whether the channel's workspace is still that directory, and passes the same checks. Makes nothing. */
gboolean
sbx_workspace_is (const char *root, const char *channel_hash, gid_t worker_gid, const SbxWorkspaceId *id);
