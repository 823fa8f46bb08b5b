/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Whatever lies at the names, reading and writing end, and touch nothing outside. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "store.h"

typedef struct {
  char *dir;
  char *outside; /* a file with "precious" */
  SbxStore *store;
} Fixture;

static char *
inside (Fixture *fixture, const char *name)
{
  return g_build_filename (fixture->dir, name, NULL);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *base = g_dir_make_tmp ("worker-store-XXXXXX", NULL);

  fixture->dir = g_build_filename (base, "work", NULL);
  fixture->outside = g_build_filename (base, "outside", NULL);
  g_assert_true (g_file_set_contents (fixture->outside, "precious", -1, NULL));
  fixture->store = sbx_store_open (fixture->dir, NULL);
  g_assert_nonnull (fixture->store);
}

static void
remove_all (const char *path)
{
  g_autoptr (GDir) dir = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      remove_all (inner);
    }
  g_assert_cmpint (g_remove (path), ==, 0);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autofree char *base = g_path_get_dirname (fixture->dir);
  g_autofree char *content = NULL;

  g_assert_true (g_file_get_contents (fixture->outside, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "precious");
  sbx_store_free (fixture->store);
  remove_all (base);
  g_free (fixture->dir);
  g_free (fixture->outside);
}

static void
plant_link (Fixture *fixture, const char *path)
{
  g_assert_cmpint (symlink (fixture->outside, path), ==, 0);
}

static void
plant_dangling_link (Fixture *fixture, const char *path)
{
  g_assert_cmpint (symlink ("nowhere", path), ==, 0);
}

static void
plant_directory (Fixture *fixture, const char *path)
{
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
}

static void
plant_full_directory (Fixture *fixture, const char *path)
{
  g_autofree char *inner = g_build_filename (path, "inner", NULL);

  plant_directory (fixture, path);
  plant_directory (fixture, inner);
}

static void
plant_fifo (Fixture *fixture, const char *path)
{
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
}

static void
plant_socket (Fixture *fixture, const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  g_assert_cmpint (bind (fd, (const struct sockaddr *) &address, sizeof address), ==, 0);
  close (fd);
}

static void
plant_sparse (Fixture *fixture, const char *path)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

  g_assert_cmpint (ftruncate (fd, 1LL << 36), ==, 0);
  close (fd);
}

static const struct {
  const char *name;
  void (*plant) (Fixture *fixture, const char *path);
  gboolean replaceable; /* by rename() */
} things[] = {
  { "link", plant_link, TRUE },
  { "dangling-link", plant_dangling_link, TRUE },
  { "directory", plant_directory, FALSE },
  { "full-directory", plant_full_directory, FALSE },
  { "fifo", plant_fifo, TRUE },
  { "socket", plant_socket, TRUE },
  { "sparse", plant_sparse, TRUE },
};

static void
test_planted_at_name (Fixture *fixture, gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree char *path = inside (fixture, "f.json");
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;

  things[i].plant (fixture, path);
  g_assert_false (sbx_store_read (fixture->store, "f.json", &bytes, &error));
  g_assert_error (error, SBX_STORE_ERROR, SBX_STORE_ERROR_UNREADABLE);
  g_clear_error (&error);

  g_assert_true (sbx_store_write (fixture->store, "f.json", "[]", 2, NULL) == things[i].replaceable);
  if (!things[i].replaceable)
    g_assert_true (sbx_store_set_aside (fixture->store, "f.json", &error));
  g_assert_no_error (error);
  g_assert_true (sbx_store_write (fixture->store, "f.json", "[1]", 3, NULL));
  g_assert_true (sbx_store_read (fixture->store, "f.json", &bytes, NULL));
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "[1]", 3);
}

/* At the name that a write uses first. */
static void
test_planted_at_temporary (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = inside (fixture, ".f.json.new");
  g_autofree char *file = inside (fixture, "f.json");
  struct stat st;

  things[GPOINTER_TO_UINT (data)].plant (fixture, path);
  g_assert_true (sbx_store_write (fixture->store, "f.json", "[]", 2, NULL));
  g_assert_cmpint (lstat (file, &st), ==, 0);
  g_assert_true (S_ISREG (st.st_mode));
  g_assert_cmpuint (st.st_mode & 07777, ==, 0600);
}

static void
test_never_aside_over_another (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = NULL;
  guint n = 0;

  for (guint i = 0; i < 5; i++)
    {
      g_assert_true (sbx_store_write (fixture->store, "f.json", "x", 1, NULL));
      g_assert_true (sbx_store_set_aside (fixture->store, "f.json", NULL));
    }
  dir = g_dir_open (fixture->dir, 0, NULL);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    {
      g_assert_true (g_str_has_prefix (name, "f.json.corrupt-"));
      n++;
    }
  g_assert_cmpuint (n, ==, 5);
}

static void
test_aside_does_not_pile_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = NULL;
  g_autofree char *other = inside (fixture, "g.json.corrupt-20200101T000000Z");
  guint n = 0;

  g_assert_true (g_file_set_contents (other, "x", 1, NULL));
  for (guint i = 0; i < 30; i++)
    {
      g_autofree char *name = g_strdup_printf ("f.json.corrupt-202001%02uT000000Z", i + 1);
      g_autofree char *path = inside (fixture, name);

      if (i % 2 == 0)
        g_assert_no_errno (mkdir (path, 0700));
      else
        g_assert_true (g_file_set_contents (path, "x", 1, NULL));
    }
  g_assert_true (sbx_store_write (fixture->store, "f.json", "x", 1, NULL));
  g_assert_true (sbx_store_set_aside (fixture->store, "f.json", NULL));
  dir = g_dir_open (fixture->dir, 0, NULL);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    if (g_str_has_prefix (name, "f.json.corrupt-"))
      {
        n++;
        g_assert_cmpstr (name, >=, "f.json.corrupt-20200124");
      }
  g_assert_cmpuint (n, ==, SBX_STORE_MAX_ASIDE);
  g_assert_true (g_file_test (other, G_FILE_TEST_EXISTS));
}

static void
test_workspace_is_no_link (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = inside (fixture, "link");

  g_assert_cmpint (symlink (fixture->dir, path), ==, 0);
  g_assert_null (sbx_store_open (path, NULL));
}

/* The bound on a file's size stands for a full disk: the write breaks off in its middle. */
static void
test_disk_full (Fixture *fixture, gconstpointer data)
{
  g_autofree char *big = g_strnfill (100000, 'x');
  g_autofree char *temporary = inside (fixture, ".f.json.new");
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  struct rlimit before;
  struct rlimit small;

  g_assert_true (sbx_store_write (fixture->store, "f.json", "old", 3, NULL));
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 4096;
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  g_assert_false (sbx_store_write (fixture->store, "f.json", big, 100000, &error));
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_error (error, SBX_STORE_ERROR, SBX_STORE_ERROR_FULL);
  g_assert_true (sbx_store_read (fixture->store, "f.json", &bytes, NULL));
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 3);
  g_assert_false (g_file_test (temporary, G_FILE_TEST_EXISTS));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (things); i++)
    {
      g_autofree char *at_name = g_strconcat ("/worker/store/at-name/", things[i].name, NULL);
      g_autofree char *at_temporary = g_strconcat ("/worker/store/at-temporary/", things[i].name, NULL);

      g_test_add (at_name, Fixture, GUINT_TO_POINTER (i), set_up, test_planted_at_name, tear_down);
      g_test_add (at_temporary, Fixture, GUINT_TO_POINTER (i), set_up, test_planted_at_temporary, tear_down);
    }
  g_test_add ("/worker/store/aside", Fixture, NULL, set_up, test_never_aside_over_another, tear_down);
  g_test_add ("/worker/store/aside-bound", Fixture, NULL, set_up, test_aside_does_not_pile_up, tear_down);
  g_test_add ("/worker/store/no-link", Fixture, NULL, set_up, test_workspace_is_no_link, tear_down);
  g_test_add ("/worker/store/disk-full", Fixture, NULL, set_up, test_disk_full, tear_down);
  return g_test_run ();
}
