/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/unix-connect.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"

int
sbx_unix_connect (const char *path, GError **error)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_auto (SbxFd) fd = -1;
  int saved_errno;

  if (strlen (path) >= sizeof address.sun_path)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FILENAME_TOO_LONG, "%s: the path is too long for a socket",
                   path);
      return -1;
    }
  memcpy (address.sun_path, path, strlen (path));
  fd = socket (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect (fd, (struct sockaddr *) &address, sizeof address) == 0)
    return g_steal_fd (&fd);
  saved_errno = errno;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved_errno), "%s: %s", path,
               g_strerror (saved_errno));
  return -1;
}
