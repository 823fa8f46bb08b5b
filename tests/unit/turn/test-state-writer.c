/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/state-writer.h"

#include <glib/gstdio.h>

#include "slow-disk.h"

typedef struct {
  char *top;
  SbxStateDir *directory;
  SbxStateWriter *writer;
  const char *content;
  GString *told; /* what has been told, in order */
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->top = g_dir_make_tmp ("sbx-writer-XXXXXX", NULL);
  self->directory = sbx_state_dir_open (self->top, NULL);
  g_assert_nonnull (self->directory);
  self->writer = sbx_state_writer_new (self->directory);
  self->told = g_string_new (NULL);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  static const char *const names[] = { "a", "b", "c" };

  sbx_state_writer_free (self->writer);
  sbx_state_dir_free (self->directory);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (self->top, names[i], NULL);

      (void) g_unlink (path);
    }
  g_assert_no_errno (g_rmdir (self->top));
  g_free (self->top);
  g_string_free (self->told, TRUE);
}

static GString *
content (gpointer user_data)
{
  Fixture *self = user_data;

  g_string_append (self->told, "content ");
  return g_string_new (self->content);
}

static void
on_done (const GError *error, gpointer user_data)
{
  Fixture *self = user_data;

  g_string_append (self->told, error != NULL ? "error " : "done ");
}

static void
on_end (const GError *error, gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
}

static void
run_until (gboolean *flag)
{
  while (!*flag)
    g_main_context_iteration (NULL, TRUE);
}

/* All that was asked for before has been told. */
static void
run_out (Fixture *self)
{
  gboolean ended = FALSE;

  sbx_state_writer_sync (self->writer, NULL, on_end, &ended);
  run_until (&ended);
}

static void
assert_file (Fixture *self, const char *name, const char *wanted)
{
  g_autofree char *path = g_build_filename (self->top, name, NULL);
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, wanted);
}

static void
write_down (Fixture *self, const char *name, const char *text)
{
  self->content = text;
  sbx_state_writer_write (self->writer, name, content, self, on_done, self);
}

/* A job of this writer has begun, and waits for the disk. */
static void
run_until_begun (guint before)
{
  while (slow_disk_count () == before)
    g_main_context_iteration (NULL, FALSE);
}

static void
test_in_order (Fixture *self, gconstpointer data)
{
  write_down (self, "a", "1");
  sbx_state_writer_sync (self->writer, "b", on_done, self);
  write_down (self, "a", "2");
  /* Nothing is told from inside. */
  g_assert_cmpstr (self->told->str, ==, "");
  run_out (self);
  g_assert_cmpstr (self->told->str, ==, "content done done content done ");
  assert_file (self, "a", "2");
}

static gboolean
on_timer (gpointer user_data)
{
  guint *n = user_data;

  (*n)++;
  return G_SOURCE_CONTINUE;
}

/* The loop goes on, nobody is told too early, and what comes meanwhile is few jobs. */
static void
test_disk_stands_still (Fixture *self, gconstpointer data)
{
  guint n_ticks = 0, before = slow_disk_count ();
  guint timer = g_timeout_add (1, on_timer, &n_ticks);

  slow_disk_stop ();
  write_down (self, "a", "1");
  run_until_begun (before);
  for (guint i = 0; i < 100; i++)
    write_down (self, "a", "2");
  for (guint i = 0; i < 100; i++)
    sbx_state_writer_sync (self->writer, "a", on_done, self);
  while (n_ticks < 20)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (timer);
  g_assert_cmpstr (self->told->str, ==, "content ");
  g_assert_cmpuint (slow_disk_count (), ==, before + 1);
  slow_disk_go ();
  run_out (self);
  g_assert_true (g_str_has_prefix (self->told->str, "content done content done done "));
  g_assert_cmpuint (self->told->len, ==, 2 * strlen ("content ") + 201 * strlen ("done "));
  /* Each write has two, its file and the directory. */
  g_assert_cmpuint (slow_disk_count (), <=, before + 2 + 2 + 101 + 1);
  assert_file (self, "a", "2");
}

static void
on_taken_back (const GError *error, gpointer user_data)
{
  Fixture *self = user_data;

  g_assert_nonnull (error);
  self->content = "as before";
}

/* What the one who is told of a failure takes back is not in the next job's content. */
static void
test_failure (Fixture *self, gconstpointer data)
{
  slow_disk_fail (1);
  self->content = "new";
  sbx_state_writer_write (self->writer, "a", content, self, on_taken_back, self);
  sbx_state_writer_sync (self->writer, NULL, on_done, self);
  sbx_state_writer_write (self->writer, "a", content, self, on_done, self);
  run_out (self);
  g_assert_cmpstr (self->told->str, ==, "content done content done ");
  assert_file (self, "a", "as before");
  slow_disk_fail (1);
  sbx_state_writer_sync (self->writer, "a", on_done, self);
  run_out (self);
  g_assert_true (g_str_has_suffix (self->told->str, "error "));
  /* One that is gone needs no disk. */
  sbx_state_writer_sync (self->writer, "b", on_done, self);
  run_out (self);
  g_assert_true (g_str_has_suffix (self->told->str, "done "));
}

static gpointer
go_later (gpointer data)
{
  g_usleep (20000);
  slow_disk_go ();
  return NULL;
}

/* The end waits for all of it, whether it had begun or not, and tells nobody. */
static void
test_freed_meanwhile (Fixture *self, gconstpointer data)
{
  for (guint round = 0; round < 2; round++)
    {
      guint before = slow_disk_count ();
      GThread *thread;

      slow_disk_stop ();
      write_down (self, "a", "1");
      if (round == 0)
        run_until_begun (before);
      write_down (self, "b", "2");
      self->content = round == 0 ? "3" : "4";
      thread = g_thread_new ("go-later", go_later, NULL);
      sbx_state_writer_free (self->writer);
      g_thread_join (thread);
      assert_file (self, "b", round == 0 ? "3" : "4");
      g_assert_null (strstr (self->told->str, "done"));
      while (g_main_context_iteration (NULL, FALSE))
        ;
      self->writer = sbx_state_writer_new (self->directory);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add ("/turn/state-writer/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("in-order", test_in_order);
  ADD ("disk-stands-still", test_disk_stands_still);
  ADD ("failure", test_failure);
  ADD ("freed-meanwhile", test_freed_meanwhile);
  return g_test_run ();
}
