/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/resets.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

#define NAME "resets.json"

typedef struct {
  char *top;
  char *file;
  SbxStateDir *directory;
  SbxResets *resets;
} Fixture;

static void
open_fine (Fixture *self)
{
  g_autoptr (GError) error = NULL;

  g_clear_pointer (&self->resets, sbx_resets_free);
  self->resets = sbx_resets_open (self->directory, NAME, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *self, gconstpointer data)
{
  self->top = g_dir_make_tmp ("sbx-resets-XXXXXX", NULL);
  self->file = g_build_filename (self->top, NAME, NULL);
  self->directory = sbx_state_dir_open (self->top, NULL);
  g_assert_nonnull (self->directory);
  open_fine (self);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sbx_resets_free (self->resets);
  sbx_state_dir_free (self->directory);
  (void) g_remove (self->file);
  (void) g_rmdir (self->top);
  g_free (self->file);
  g_free (self->top);
}

static void
ask (Fixture *self, const char *channel)
{
  g_assert_true (sbx_resets_ask (self->resets, channel, NULL, NULL, NULL));
}

static void
test_consumed_by_its_turn (Fixture *self, gconstpointer data)
{
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:1"), ==, 0);
  ask (self, "a:1");
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:1"), ==, 1);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:2"), ==, 0);
  sbx_resets_consume (self->resets, "a:1", 1);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:1"), ==, 0);
  /* A turn that began without one takes none. */
  ask (self, "a:1");
  sbx_resets_consume (self->resets, "a:1", 0);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:1"), ==, 1);
}

static void
test_asked_during_a_turn (Fixture *self, gconstpointer data)
{
  guint64 noted;

  ask (self, "a:1");
  noted = sbx_resets_generation (self->resets, "a:1");
  ask (self, "a:1");
  sbx_resets_consume (self->resets, "a:1", noted);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:1"), ==, 2);
  sbx_resets_consume (self->resets, "a:1", 2);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:1"), ==, 0);
}

static void
test_survives (Fixture *self, gconstpointer data)
{
  ask (self, "a:\"1");
  ask (self, "a:2");
  ask (self, "a:2");
  ask (self, "a:3");
  sbx_resets_consume (self->resets, "a:3", 1);
  open_fine (self);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:\"1"), ==, 1);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:2"), ==, 2);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:3"), ==, 0);
  sbx_resets_purge (self->resets, "a:2");
  open_fine (self);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:2"), ==, 0);
}

static void
test_malformed (Fixture *self, gconstpointer data)
{
  static const char *const texts[] = { "",       "{}", "[1]", "[[\"a:1\"]]", "[[\"a:1\",0]]", "[[\"x\",1]]",
                                       "[[1,1]]" };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (g_file_set_contents (self->file, texts[i], -1, NULL));
      g_assert_no_errno (chmod (self->file, 0600));
      g_assert_null (sbx_resets_open (self->directory, NAME, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
    }
}

static void
on_asked (const GError *error, gpointer user_data)
{
  g_assert_nonnull (error);
  *(GError **) user_data = g_error_copy (error);
}

static void
test_not_written (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_no_errno (g_rmdir (self->top));
  g_assert_true (sbx_resets_ask (self->resets, "a:1", on_asked, &error, NULL));
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:1"), ==, 1);
  while (error == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_error (error, SBX_STATE_DIR_ERROR, SBX_STATE_DIR_ERROR_IO);
  g_assert_cmpuint (sbx_resets_generation (self->resets, "a:1"), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add ("/turn/resets/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("consumed-by-its-turn", test_consumed_by_its_turn);
  ADD ("asked-during-a-turn", test_asked_during_a_turn);
  ADD ("survives", test_survives);
  ADD ("malformed", test_malformed);
  ADD ("not-written", test_not_written);
  return g_test_run ();
}
