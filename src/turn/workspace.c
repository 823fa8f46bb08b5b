/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define WORKSPACE_MODE 0770u

G_DEFINE_QUARK (sbx - workspace - error - quark, sbx_workspace_error)

static void
set_errno_error (GError **error, const char *doing, const char *path)
{
  int saved_errno = errno;
  SbxWorkspaceError code = SBX_WORKSPACE_ERROR_IO;

  if (saved_errno == ELOOP || saved_errno == ENOTDIR)
    code = SBX_WORKSPACE_ERROR_UNSAFE;
  else if (saved_errno == ENOSPC || saved_errno == EDQUOT)
    code = SBX_WORKSPACE_ERROR_FULL;
  g_set_error (error, SBX_WORKSPACE_ERROR, code, "Cannot %s the workspace %s: %s", doing, path,
               g_strerror (saved_errno));
}

/* Link by link, so that no part of the path is a symbolic link. openat2() would do it in one call, but
 * RestrictSUIDSGID= of the unit answers it with ENOSYS: a filter cannot look into its argument. */
static int
open_directory (int parent, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);
  g_auto (SbxFd) at = -1;

  if (path[0] == '/' && (at = open ("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
    return -1;
  for (char **part = parts; *part != NULL; part++)
    {
      int next;

      if (**part == '\0' || g_str_equal (*part, "."))
        continue;
      if (g_str_equal (*part, ".."))
        {
          errno = ELOOP;
          return -1;
        }
      next = openat (at >= 0 ? at : parent, *part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (next < 0)
        return -1;
      sbx_fd_close (at);
      at = next;
    }
  return g_steal_fd (&at);
}

static gboolean
check_root_mode (const char *root, int fd, GError **error)
{
  struct stat status;

  if (fstat (fd, &status) < 0)
    {
      set_errno_error (error, "look at", root);
      return FALSE;
    }
  /* Entering by name is all that the worker's group would get, and dockerd is root. */
  if (status.st_uid == geteuid () && (status.st_mode & 066) == 0)
    return TRUE;
  g_set_error (
    error, SBX_WORKSPACE_ERROR, SBX_WORKSPACE_ERROR_UNSAFE,
    "%s must belong to the service's user (%u) and be neither readable nor writable for others (owner %u, "
    "mode %04o)",
    root, (guint) geteuid (), (guint) status.st_uid, (guint) (status.st_mode & 07777));
  return FALSE;
}

gboolean
sbx_workspace_check_root (const char *root, GError **error)
{
  g_auto (SbxFd) fd = -1;

  if (g_mkdir_with_parents (root, 0711) < 0 || (fd = open_directory (AT_FDCWD, root)) < 0)
    {
      set_errno_error (error, "open", root);
      return FALSE;
    }
  return check_root_mode (root, fd, error);
}

static gboolean
check_workspace (const char *path, int fd, gid_t worker_gid, SbxWorkspaceId *ret_id, GError **error)
{
  struct stat status;

  if (fstat (fd, &status) < 0)
    {
      set_errno_error (error, "look at", path);
      return FALSE;
    }
  if (status.st_uid == geteuid () && status.st_gid == worker_gid
      && (status.st_mode & 07777) == WORKSPACE_MODE)
    {
      *ret_id = (SbxWorkspaceId){ .device = status.st_dev, .inode = status.st_ino };
      return TRUE;
    }
  g_set_error (error, SBX_WORKSPACE_ERROR, SBX_WORKSPACE_ERROR_UNSAFE,
               "The workspace %s must have owner %u, group %u and mode %04o; it has %u, %u and %04o", path,
               (guint) geteuid (), (guint) worker_gid, WORKSPACE_MODE, (guint) status.st_uid,
               (guint) status.st_gid, (guint) (status.st_mode & 07777));
  return FALSE;
}

char *
sbx_workspace_open (const char *root, const char *channel_hash, gid_t worker_gid, SbxWorkspaceId *ret_id,
                    GError **error)
{
  SbxWorkspaceId id;
  g_autofree char *path = g_build_filename (root, channel_hash, NULL);
  g_auto (SbxFd) parent = open_directory (AT_FDCWD, root);
  g_auto (SbxFd) fd = -1;
  gboolean made;

  if (parent < 0)
    {
      set_errno_error (error, "open", root);
      return NULL;
    }
  made = mkdirat (parent, channel_hash, 0700) == 0;
  if (!made && errno != EEXIST)
    {
      set_errno_error (error, "make", path);
      return NULL;
    }
  fd = open_directory (parent, channel_hash);
  if (fd < 0)
    {
      set_errno_error (error, "open", path);
      return NULL;
    }
  if (made && (fchown (fd, (uid_t) -1, worker_gid) < 0 || fchmod (fd, WORKSPACE_MODE) < 0))
    {
      set_errno_error (error, "set up", path);
      (void) unlinkat (parent, channel_hash, AT_REMOVEDIR);
      return NULL;
    }
  if (!check_workspace (path, fd, worker_gid, &id, error))
    return NULL;
  if (ret_id != NULL)
    *ret_id = id;
  return g_steal_pointer (&path);
}

gboolean
sbx_workspace_is (const char *root, const char *channel_hash, gid_t worker_gid, const SbxWorkspaceId *id)
{
  g_auto (SbxFd) parent = open_directory (AT_FDCWD, root);
  g_auto (SbxFd) fd = parent >= 0 ? open_directory (parent, channel_hash) : -1;
  SbxWorkspaceId found;

  return fd >= 0 && check_workspace (channel_hash, fd, worker_gid, &found, NULL) && found.device == id->device
         && found.inode == id->inode;
}
