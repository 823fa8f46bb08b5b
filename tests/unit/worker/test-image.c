/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <glib/gstdio.h>
#include <string.h>

#include "image-tar.h"
#include "libraries.h"
#include "tar.h"

static const char *worker;

static void
test_loader_lines (void)
{
  static const struct {
    const char *line;
    const char *path;
    gboolean missing;
  } cases[] = {
    { "\tlinux-vdso.so.1 (0x00007ffe)", NULL, FALSE },
    { "\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)", "/lib/x86_64-linux-gnu/libz.so.1", FALSE },
    { "\t/lib64/ld-linux-x86-64.so.2 (0x00007f)", "/lib64/ld-linux-x86-64.so.2", FALSE },
    { "\tlibgone.so.1 => not found", NULL, TRUE },
    { "", NULL, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gboolean missing;
      g_autofree char *path = sbx_libraries_parse_line (cases[i].line, &missing);

      g_assert_cmpstr (path, ==, cases[i].path);
      g_assert_true (missing == cases[i].missing);
    }
}

static void
test_tar_paths (void)
{
  g_autoptr (SbxTar) tar = sbx_tar_new ();
  g_autofree char *long_name = g_strnfill (101, 'n');
  g_autofree char *long_path = g_strdup_printf ("%.90s/%.90s", long_name, long_name);
  g_autoptr (GBytes) bytes = NULL;
  const char *data;

  g_assert_false (sbx_tar_add_file (tar, long_name, 0444, "", 0));
  g_assert_true (sbx_tar_add_file (tar, long_path, 0444, "abc", 3));
  bytes = sbx_tar_end (tar);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 4 * 512);
  data = g_bytes_get_data (bytes, NULL);
  g_assert_cmpmem (data + 257, 5, "ustar", 5);
  g_assert_cmpmem (data + 512, 4, "abc\0", 4);
}

/* The files of the only layer, by tar itself. */
static char *
list_layer (SbxWorkerImage *image)
{
  g_autofree char *dir = g_dir_make_tmp ("worker-image-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, "image.tar", NULL);
  g_autofree char *command =
    g_strdup_printf ("sh -c 'cd %s && tar xf image.tar && tar tvf */layer.tar && rm -rf %s'", dir, dir);
  char *list = NULL;
  int status = 1;

  g_assert_true (g_file_set_contents (path, g_bytes_get_data (image->archive, NULL),
                                      (gssize) g_bytes_get_size (image->archive), NULL));
  g_assert_true (g_spawn_command_line_sync (command, &list, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  return list;
}

static void
test_content (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxWorkerImage) image = sbx_worker_image_new (worker, "worker:test", &error);
  g_autoptr (SbxWorkerImage) again = sbx_worker_image_new (worker, "worker:other-name", NULL);
  g_autofree char *list = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_no_error (error);
  g_assert_cmpstr (image->id, ==, again->id);
  g_assert_cmpstr (image->layer, ==, again->layer);
  g_assert_cmpuint (g_bytes_get_size (image->archive), <, 15 * 1024 * 1024);
  list = list_layer (image);
  g_assert_nonnull (strstr (list, " worker\n"));
  g_assert_nonnull (strstr (list, "usr/share/zoneinfo/Europe/Berlin"));
  g_assert_null (strstr (list, "libsystemd"));
  g_assert_null (strstr (list, "libgobject"));
  g_assert_null (strstr (list, "bin/"));
  lines = g_strsplit (g_strchomp (list), "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_test_message ("%s", lines[i]);
      g_assert_true (
        g_str_has_prefix (lines[i], "dr-xr-xr-x 0/0") || g_str_has_prefix (lines[i], "-r-xr-xr-x 0/0")
        || g_str_has_prefix (lines[i], "-r--r--r-- 0/0") || g_str_has_prefix (lines[i], "hr--r--r-- 0/0"));
    }
}

/* A program brings its libraries and its loader, where it has any: this test has, the worker may have none.
 */
static void
test_libraries (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  const char *const programs[] = { self, worker };

  for (gsize i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autoptr (SbxWorkerImage) image = sbx_worker_image_new (programs[i], "worker:test", NULL);
      g_autofree char *list = list_layer (image);
      g_autofree char *loader = NULL;

      g_assert_true (sbx_libraries_loader (programs[i], &loader, NULL));
      g_assert_true (i == 1 || loader != NULL);
      g_assert_true ((strstr (list, "/libc.so.6\n") != NULL) == (loader != NULL));
      g_assert_true ((strstr (list, ".so") != NULL) == (loader != NULL));
      g_assert_true (loader == NULL || strstr (list, loader + 1) != NULL);
    }
}

static void
test_missing_worker (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (sbx_worker_image_new ("/nonexistent/worker", "worker:test", &error));
  g_assert_error (error, SBX_IMAGE_ERROR, SBX_IMAGE_ERROR_MISSING);
  g_clear_error (&error);
  g_assert_null (sbx_worker_image_new ("/etc/passwd", "worker:test", &error));
  g_assert_error (error, SBX_IMAGE_ERROR, SBX_IMAGE_ERROR_READ);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  worker = argv[1];
  g_test_add_func ("/worker/image/loader-lines", test_loader_lines);
  g_test_add_func ("/worker/image/tar-paths", test_tar_paths);
  g_test_add_func ("/worker/image/content", test_content);
  g_test_add_func ("/worker/image/libraries", test_libraries);
  g_test_add_func ("/worker/image/missing-worker", test_missing_worker);
  return g_test_run ();
}
