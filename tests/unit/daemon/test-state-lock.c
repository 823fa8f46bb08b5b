/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/state-lock.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

/* A second process is refused and told who holds it; the lock ends with its holder. */
static void
test_one_holder (void)
{
  g_autofree char *directory = g_dir_make_tmp ("sbx-lock-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (directory, "lock", NULL);
  g_autofree char *holder = g_strdup_printf ("process %d;", (int) getpid ());
  g_autoptr (GError) error = NULL;
  int fd = sbx_state_lock_take (directory, &error);
  int status = -1;
  pid_t child;

  g_assert_no_error (error);
  child = fork ();
  if (child == 0)
    {
      int second = sbx_state_lock_take (directory, &error);

      _exit (second < 0 && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY)
                 && strstr (error->message, holder) != NULL
               ? 0
               : 1);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
  sbx_fd_close (fd);
  child = fork ();
  if (child == 0)
    _exit (sbx_state_lock_take (directory, NULL) >= 0 ? 0 : 1);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (directory));
}

static void
test_no_link (void)
{
  g_autofree char *directory = g_dir_make_tmp ("sbx-lock-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (directory, "lock", NULL);

  g_assert_no_errno (symlink ("/etc/hostname", path));
  g_assert_cmpint (sbx_state_lock_take (directory, NULL), ==, -1);
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (directory));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/daemon/state-lock/one-holder", test_one_holder);
  g_test_add_func ("/daemon/state-lock/no-link", test_no_link);
  return g_test_run ();
}
