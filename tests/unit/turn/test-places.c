/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Workspaces and run directories: what is made, and what is refused. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/unix-connect.h"
#include "turn/run-dir.h"
#include "turn/workspace.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void
assert_mode (const char *path, mode_t mode)
{
  struct stat status;

  g_assert_no_errno (lstat (path, &status));
  g_assert_cmpuint (status.st_mode & 07777, ==, mode);
  g_assert_cmpuint (status.st_gid, ==, getgid ());
}

static void
assert_refused (const char *root)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (sbx_workspace_open (root, HASH, getgid (), NULL, &error));
  g_assert_error (error, SBX_WORKSPACE_ERROR, SBX_WORKSPACE_ERROR_UNSAFE);
}

static void
test_workspace (void)
{
  g_autofree char *top = g_dir_make_tmp ("sbx-work-XXXXXX", NULL);
  g_autofree char *root = g_build_filename (top, "workspaces", NULL);
  g_autofree char *path = g_build_filename (root, HASH, NULL);
  g_autofree char *moved = g_build_filename (top, "moved", NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  g_assert_true (sbx_workspace_check_root (root, &error));
  g_assert_no_error (error);
  first = sbx_workspace_open (root, HASH, getgid (), NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (first, ==, path);
  assert_mode (path, 0770);
  second = sbx_workspace_open (root, HASH, getgid (), NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (second, ==, path);

  g_assert_no_errno (chmod (path, 0775));
  assert_refused (root);
  g_assert_no_errno (chmod (path, 0770));
  g_assert_no_errno (g_rename (path, moved));
  g_assert_no_errno (symlink (moved, path));
  assert_refused (root);
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (mkfifo (path, 0600));
  assert_refused (root);
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (moved));

  /* A link on the way to it. */
  g_assert_no_errno (g_rename (root, moved));
  g_assert_no_errno (symlink (moved, root));
  assert_refused (root);
  g_assert_no_errno (g_unlink (root));
  g_assert_no_errno (g_rmdir (moved));
  g_assert_no_errno (g_rmdir (top));
}

static void
test_workspace_root_open_to_others (void)
{
  g_autofree char *root = g_dir_make_tmp ("sbx-work-XXXXXX", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_no_errno (chmod (root, 0755));
  g_assert_false (sbx_workspace_check_root (root, &error));
  g_assert_error (error, SBX_WORKSPACE_ERROR, SBX_WORKSPACE_ERROR_UNSAFE);
  g_assert_no_errno (g_rmdir (root));
}

static void
test_run_dir (void)
{
  g_autofree char *root = g_dir_make_tmp ("sbx-run-XXXXXX", NULL);
  g_autofree char *path = NULL;
  g_autofree char *socket_path = NULL;
  g_auto (SbxFd) listener = -1;
  g_auto (SbxFd) client = -1;
  g_autoptr (GError) error = NULL;

  path = sbx_run_dir_make (root, "0123456789abcdef", getgid (), &listener, &error);
  g_assert_no_error (error);
  socket_path = g_build_filename (path, "broker.sock", NULL);
  assert_mode (path, 0750);
  assert_mode (socket_path, 0660);
  g_assert_cmpint (fcntl (listener, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
  client = sbx_unix_connect (socket_path, &error);
  g_assert_no_error (error);

  /* An id is never used twice. */
  {
    int other = -1;

    g_assert_null (sbx_run_dir_make (root, "0123456789abcdef", getgid (), &other, &error));
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS);
    g_clear_error (&error);
    g_assert_cmpint (other, ==, -1);
    g_assert_true (g_file_test (socket_path, G_FILE_TEST_EXISTS));
  }
  g_assert_true (sbx_run_dir_remove (path, &error));
  g_assert_true (sbx_run_dir_remove (path, &error));
  g_assert_no_error (error);
  g_assert_no_errno (g_rmdir (root));
}

static void
test_run_dir_length (void)
{
  g_autofree char *fits = g_strnfill (100 - strlen ("/turn-/broker.sock") - 32, 'x');
  g_autofree char *too_long = g_strconcat (fits, "x", NULL);
  g_autoptr (GError) error = NULL;

  fits[0] = too_long[0] = '/';
  g_assert_true (sbx_run_dir_check_root (fits, NULL));
  g_assert_false (sbx_run_dir_check_root (too_long, &error));
  g_assert_nonnull (strstr (error->message, "101"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/workspace/checked", test_workspace);
  g_test_add_func ("/turn/workspace/root-open-to-others", test_workspace_root_open_to_others);
  g_test_add_func ("/turn/run-dir/made-and-removed", test_run_dir);
  g_test_add_func ("/turn/run-dir/length", test_run_dir_length);
  return g_test_run ();
}
