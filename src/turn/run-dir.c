/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/names.h"
#include "wire/bounds.h"

/* The connections of wire contract 2.1; the broker closes one more. */
#define BACKLOG 16

static void
set_errno_error (GError **error, const char *doing, const char *path)
{
  int saved_errno = errno;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved_errno), "Cannot %s %s: %s", doing, path,
               g_strerror (saved_errno));
}

gboolean
sbx_run_dir_check_root (const char *root, GError **error)
{
  gsize n_bytes =
    strlen (root) + strlen ("/" SBX_TURN_DIR_PREFIX) + SBX_MAX_TURN_ID_BYTES + strlen ("/" SBX_BROKER_SOCKET);

  if (n_bytes <= SBX_RUN_DIR_MAX_PATH)
    return TRUE;
  g_set_error (
    error, G_IO_ERROR, G_IO_ERROR_FILENAME_TOO_LONG,
    "The run directory %s is too long: a turn's socket in it would take %zu bytes, and %u are allowed", root,
    n_bytes, SBX_RUN_DIR_MAX_PATH);
  return FALSE;
}

/* Binds in the directory and lets the worker's group in before anybody can connect: listen() comes last. */
static int
listen_in (const char *path, gid_t worker_gid, GError **error)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_auto (SbxFd) fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  if (strlen (path) > SBX_RUN_DIR_MAX_PATH)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FILENAME_TOO_LONG, "The socket's path %s is over %u bytes",
                   path, SBX_RUN_DIR_MAX_PATH);
      return -1;
    }
  memcpy (address.sun_path, path, strlen (path));
  if (fd < 0 || bind (fd, (struct sockaddr *) &address, sizeof address) < 0
      || fchownat (AT_FDCWD, path, (uid_t) -1, worker_gid, AT_SYMLINK_NOFOLLOW) < 0 || chmod (path, 0660) < 0
      || listen (fd, BACKLOG) < 0)
    {
      set_errno_error (error, "listen on", path);
      return -1;
    }
  return g_steal_fd (&fd);
}

char *
sbx_run_dir_make (const char *root, const char *turn, gid_t worker_gid, int *ret_listener, GError **error)
{
  g_autofree char *name = g_strconcat (SBX_TURN_DIR_PREFIX, turn, NULL);
  g_autofree char *path = g_build_filename (root, name, NULL);
  g_autofree char *socket_path = g_build_filename (path, SBX_BROKER_SOCKET, NULL);
  int listener = -1;

  if (mkdir (path, 0700) < 0)
    {
      set_errno_error (error, "make", path);
      return NULL;
    }
  if (fchownat (AT_FDCWD, path, (uid_t) -1, worker_gid, AT_SYMLINK_NOFOLLOW) < 0 || chmod (path, 0750) < 0)
    set_errno_error (error, "set up", path);
  else
    listener = listen_in (socket_path, worker_gid, error);
  if (listener < 0)
    {
      (void) sbx_run_dir_remove (path, NULL);
      return NULL;
    }
  *ret_listener = listener;
  return g_steal_pointer (&path);
}

gboolean
sbx_run_dir_remove (const char *path, GError **error)
{
  g_autofree char *socket_path = g_build_filename (path, SBX_BROKER_SOCKET, NULL);

  if ((unlink (socket_path) == 0 || errno == ENOENT) && (rmdir (path) == 0 || errno == ENOENT))
    return TRUE;
  set_errno_error (error, "remove", path);
  return FALSE;
}
