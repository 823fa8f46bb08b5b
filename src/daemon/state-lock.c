/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/state-lock.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <unistd.h>

#include "base/fd.h"

int
sbx_state_lock_take (const char *directory, GError **error)
{
  g_autofree char *path = g_build_filename (directory, "lock", NULL);
  g_auto (SbxFd) fd = open (path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  int saved_errno;

  /* A record lock: the kernel knows the holder, and a child does not inherit it. */
  if (fd >= 0 && fcntl (fd, F_SETLK, &lock) == 0)
    return g_steal_fd (&fd);
  saved_errno = errno;
  if (fd >= 0 && (saved_errno == EACCES || saved_errno == EAGAIN) && fcntl (fd, F_GETLK, &lock) == 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY,
                 "The state directory %s is in use by process %d; only one sandboxd may run on it", directory,
                 (int) lock.l_pid);
  else
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved_errno), "Cannot lock %s: %s", path,
                 g_strerror (saved_errno));
  return -1;
}
