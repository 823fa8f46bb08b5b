/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void
sbx_fd_close (SbxFd fd)
{
  int saved_errno = errno;

  if (fd >= 0)
    (void) close (fd);
  errno = saved_errno;
}

gboolean
sbx_fd_set_nonblocking (int fd, GError **error)
{
  int flags = fcntl (fd, F_GETFL);

  if (flags < 0 || fcntl (fd, F_SETFL, flags | O_NONBLOCK) < 0)
    {
      int saved_errno = errno;

      g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (saved_errno),
                   "Cannot make a descriptor non-blocking: %s", g_strerror (saved_errno));
      return FALSE;
    }
  return TRUE;
}
