/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "cleanup/run-dirs.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  char *top; /* holds "run", the parent, and "outside", which no link may lead to */
  char *run;
} Fixture;

static void
make_file (const char *path)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, "x", 1, &error));
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *kept = NULL;
  g_autofree char *deep = NULL;
  g_autofree char *socket = NULL;
  g_autofree char *link = NULL;
  g_autofree char *link_turn = NULL;
  g_autofree char *outside = NULL;
  g_autofree char *witness = NULL;

  fixture->top = g_dir_make_tmp ("cleanup-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->run = g_build_filename (fixture->top, "run", NULL);
  deep = g_build_filename (fixture->run, "turn-1", "a", "b", NULL);
  g_assert_cmpint (g_mkdir_with_parents (deep, 0700), ==, 0);
  socket = g_build_filename (fixture->run, "turn-1", "broker.sock", NULL);
  make_file (socket);
  kept = g_build_filename (fixture->run, "other", NULL);
  g_assert_cmpint (g_mkdir (kept, 0700), ==, 0);
  outside = g_build_filename (fixture->top, "outside", NULL);
  g_assert_cmpint (g_mkdir (outside, 0700), ==, 0);
  witness = g_build_filename (outside, "witness", NULL);
  make_file (witness);
  link = g_build_filename (deep, "link", NULL);
  g_assert_cmpint (symlink (outside, link), ==, 0);
  link_turn = g_build_filename (fixture->run, "turn-link", NULL);
  g_assert_cmpint (symlink (outside, link_turn), ==, 0);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  static const char *const left[] = { "run/other", "run/turn-link", "run", "outside/witness", "outside" };

  for (gsize i = 0; i < G_N_ELEMENTS (left); i++)
    {
      g_autofree char *path = g_build_filename (fixture->top, left[i], NULL);

      (void) g_remove (path);
    }
  g_assert_cmpint (g_rmdir (fixture->top), ==, 0);
  g_free (fixture->run);
  g_free (fixture->top);
}

static gboolean
is_there (const Fixture *fixture, const char *name)
{
  g_autofree char *path = g_build_filename (fixture->top, name, NULL);
  struct stat info;

  return lstat (path, &info) == 0;
}

static SbxSweep
new_sweep (gboolean dry_run)
{
  return (SbxSweep){ .dry_run = dry_run, .due_usec = g_get_monotonic_time () + 10 * G_USEC_PER_SEC };
}

static void
print_comment (const char *text)
{
  (void) fprintf (stdout, "# %s", text);
}

/* Its lines would be no TAP. */
static void
run_sweep (SbxSweep *sweep, const char *parent)
{
  GPrintFunc before = g_set_print_handler (print_comment);

  sbx_sweep_run_dirs (sweep, parent);
  (void) g_set_print_handler (before);
}

static void
test_removes (Fixture *fixture, gconstpointer data)
{
  SbxSweep sweep = new_sweep (FALSE);

  run_sweep (&sweep, fixture->run);
  g_assert_cmpuint (sweep.n_found, ==, 2);
  g_assert_cmpuint (sweep.n_failed, ==, 0);
  g_assert_false (is_there (fixture, "run/turn-1"));
  g_assert_false (is_there (fixture, "run/turn-link"));
  g_assert_true (is_there (fixture, "run/other"));
  g_assert_true (is_there (fixture, "outside/witness"));

  sweep = new_sweep (FALSE);
  run_sweep (&sweep, fixture->run);
  g_assert_cmpuint (sweep.n_found + sweep.n_failed, ==, 0);
}

static void
test_dry_run (Fixture *fixture, gconstpointer data)
{
  SbxSweep sweep = new_sweep (TRUE);
  g_autofree char *path = g_build_filename (fixture->run, "turn-1", NULL);

  run_sweep (&sweep, fixture->run);
  g_assert_cmpuint (sweep.n_found, ==, 2);
  g_assert_true (is_there (fixture, "run/turn-1/a/b/link"));

  sweep = new_sweep (FALSE);
  run_sweep (&sweep, fixture->run);
}

static void
test_time_over (Fixture *fixture, gconstpointer data)
{
  SbxSweep sweep = { .due_usec = 0 };

  run_sweep (&sweep, fixture->run);
  g_assert_true (is_there (fixture, "run/turn-1"));
  g_assert_cmpuint (sweep.n_failed, ==, 2);
  sweep = new_sweep (FALSE);
  run_sweep (&sweep, fixture->run);
}

static void
test_no_parent (void)
{
  SbxSweep sweep = new_sweep (FALSE);

  run_sweep (&sweep, "/nonexistent/run");
  g_assert_cmpuint (sweep.n_found + sweep.n_failed, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/cleanup/run-dirs/removes", Fixture, NULL, set_up, test_removes, tear_down);
  g_test_add ("/cleanup/run-dirs/dry-run", Fixture, NULL, set_up, test_dry_run, tear_down);
  g_test_add ("/cleanup/run-dirs/time-over", Fixture, NULL, set_up, test_time_over, tear_down);
  g_test_add_func ("/cleanup/run-dirs/no-parent", test_no_parent);
  return g_test_run ();
}
