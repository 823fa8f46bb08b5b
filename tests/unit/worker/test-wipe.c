/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wipe.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define DEEP 3000

static char *
make_workspace (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("wipe-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

static void
assert_emptied (const char *path)
{
  g_assert_cmpint (sbx_wipe (path), ==, 0);
  /* It stays, and is empty. */
  g_assert_cmpint (g_rmdir (path), ==, 0);
}

static void
put (const char *directory, const char *name)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);

  g_assert_true (g_file_set_contents (path, "x", 1, NULL));
}

static void
test_kinds (void)
{
  g_autofree char *path = make_workspace ();
  g_autofree char *outside = make_workspace ();
  g_autofree char *link = g_build_filename (path, "link", NULL);
  g_autofree char *pipe = g_build_filename (path, "pipe", NULL);
  g_autofree char *kept = g_build_filename (outside, "kept", NULL);

  put (path, "memory.json");
  put (path, ".hidden");
  put (path, "a name\nwith a line");
  put (outside, "kept");
  g_assert_cmpint (symlink (outside, link), ==, 0);
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);

  assert_emptied (path);

  /* What a link pointed at is untouched. */
  g_assert_true (g_file_test (kept, G_FILE_TEST_IS_REGULAR));
  assert_emptied (outside);
}

static void
test_closed_directories (void)
{
  g_autofree char *path = make_workspace ();
  g_autofree char *closed = g_build_filename (path, "closed", NULL);
  g_autofree char *inner = g_build_filename (closed, "inner", NULL);

  g_assert_cmpint (g_mkdir_with_parents (inner, 0700), ==, 0);
  put (inner, "file");
  g_assert_cmpint (chmod (inner, 0), ==, 0);
  g_assert_cmpint (chmod (closed, 0), ==, 0);

  assert_emptied (path);
}

static void
test_names_of_its_own (void)
{
  g_autofree char *path = make_workspace ();
  g_autofree char *mine = g_build_filename (path, ".wipe-0", "inner", "more", NULL);
  g_autofree char *other = g_build_filename (path, "a", "b", "c", NULL);

  g_assert_cmpint (g_mkdir_with_parents (mine, 0700), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (other, 0700), ==, 0);
  put (path, ".wipe-1");
  put (other, "file");

  assert_emptied (path);
}

/* Deeper than any path may be long, and than there are descriptors. */
static void
test_deep (void)
{
  g_autofree char *path = make_workspace ();
  g_auto (SbxFd) at = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  for (int i = 0; i < DEEP; i++)
    {
      int next;

      g_assert_cmpint (mkdirat (at, "deeper", 0700), ==, 0);
      next = openat (at, "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      g_assert_cmpint (next, >=, 0);
      sbx_fd_close (at);
      at = next;
    }

  assert_emptied (path);
}

static void
test_not_there (void)
{
  g_autofree char *path = make_workspace ();
  g_autofree char *gone = g_build_filename (path, "gone", NULL);
  g_autofree char *link = g_build_filename (path, "link", NULL);

  g_assert_cmpint (sbx_wipe (gone), ==, -ENOENT);
  g_assert_cmpint (symlink (path, link), ==, 0);
  g_assert_cmpint (sbx_wipe (link), <, 0);
  assert_emptied (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/wipe/kinds", test_kinds);
  g_test_add_func ("/worker/wipe/closed-directories", test_closed_directories);
  g_test_add_func ("/worker/wipe/names-of-its-own", test_names_of_its_own);
  g_test_add_func ("/worker/wipe/deep", test_deep);
  g_test_add_func ("/worker/wipe/not-there", test_not_there);
  return g_test_run ();
}
