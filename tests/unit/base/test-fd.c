/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>

static int
open_null (void)
{
  int fd = open ("/dev/null", O_RDWR | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
test_closed_once (void)
{
  int number;

  {
    g_auto (SbxFd) fd = open_null ();
    g_auto (SbxFd) none = -1;

    number = fd;
    g_assert_cmpint (none, ==, -1);
  }
  g_assert_cmpint (fcntl (number, F_GETFD), ==, -1);
}

static void
test_handed_over (void)
{
  g_auto (SbxFd) kept = -1;

  {
    g_auto (SbxFd) fd = open_null ();

    kept = g_steal_fd (&fd);
  }
  g_assert_cmpint (fcntl (kept, F_GETFD), !=, -1);
}

static void
test_errno_is_kept (void)
{
  errno = EPIPE;
  sbx_fd_close (open_null ());
  g_assert_cmpint (errno, ==, EPIPE);
  sbx_fd_close (-1);
  g_assert_cmpint (errno, ==, EPIPE);
}

static void
test_nonblocking (void)
{
  g_autoptr (GError) error = NULL;
  g_auto (SbxFd) fd = open_null ();

  g_assert_true (sbx_fd_set_nonblocking (fd, &error));
  g_assert_no_error (error);
  g_assert_true (fcntl (fd, F_GETFL) & O_NONBLOCK);
  g_assert_false (sbx_fd_set_nonblocking (-1, &error));
  g_assert_true (error != NULL && error->domain == G_FILE_ERROR);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fd/closed-once", test_closed_once);
  g_test_add_func ("/fd/handed-over", test_handed_over);
  g_test_add_func ("/fd/errno", test_errno_is_kept);
  g_test_add_func ("/fd/nonblocking", test_nonblocking);
  return g_test_run ();
}
