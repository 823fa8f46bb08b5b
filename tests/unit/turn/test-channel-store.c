/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/channel-store.h"
#include "turn/state-dir.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  const char *key;
  gboolean valid;
} keys[] = {
  { "discord:123", TRUE },
  { "a:b", TRUE },
  { "a1_-:x y", TRUE },
  { "a:\xc3\xa4", TRUE },
  { "a::", TRUE },
  { "", FALSE },
  { ":x", FALSE },
  { "a:", FALSE },
  { "A:x", FALSE },
  { "1:x", FALSE },
  { "a b:x", FALSE },
  { "a:x\ny", FALSE },
  { "a:x\n", FALSE },
  { "a:x\r", FALSE },
  { "a:\xff", FALSE },
  { "discord", FALSE },
  { "a:\xe2\x80\xa8", FALSE },
  { "a:\xe2\x80\xa9", FALSE },
};

static void
test_keys (void)
{
  g_autofree char *longest = g_strnfill (512, 'x');
  g_autofree char *too_long = g_strnfill (513, 'x');

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autofree char *shown = g_strescape (keys[i].key, NULL); /* TAP is UTF-8 */

      g_test_message ("%s", shown);
      g_assert_cmpint (sbx_channel_key_is_valid (keys[i].key), ==, keys[i].valid);
    }
  longest[1] = too_long[1] = ':';
  g_assert_true (sbx_channel_key_is_valid (longest));
  g_assert_false (sbx_channel_key_is_valid (too_long));
}

typedef struct {
  char *directory;
  char *path;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->directory = g_dir_make_tmp ("sbx-store-XXXXXX", NULL);
  self->path = g_build_filename (self->directory, "channels.json", NULL);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  (void) chmod (self->directory, 0700);
  (void) g_unlink (self->path);
  g_assert_no_errno (g_rmdir (self->directory));
  g_free (self->path);
  g_free (self->directory);
}

static SbxChannelStore *
open_fine (Fixture *self)
{
  g_autoptr (GError) error = NULL;
  SbxChannelStore *store = sbx_channel_store_open (self->path, NULL, &error);

  g_assert_no_error (error);
  return store;
}

typedef struct {
  gboolean done;
  GError *error;
} Told;

static void
on_done (const GError *error, gpointer user_data)
{
  Told *told = user_data;

  told->done = TRUE;
  told->error = error != NULL ? g_error_copy (error) : NULL;
}

/* NULL when it is on the disk. */
static GError *
try_set (SbxChannelStore *store, const char *key, gboolean on)
{
  Told told = { FALSE, NULL };

  sbx_channel_store_set (store, key, on, on_done, &told);
  g_assert_false (told.done);
  while (!told.done)
    g_main_context_iteration (NULL, TRUE);
  return told.error;
}

static void
set (SbxChannelStore *store, const char *key, gboolean on)
{
  g_autoptr (GError) error = try_set (store, key, on);

  g_assert_no_error (error);
  g_assert_true (sbx_channel_store_has (store, key) == on);
}

static void
test_modes_stay (Fixture *self, gconstpointer data)
{
  g_autofree char *text = NULL;
  struct stat status;

  {
    g_autoptr (SbxChannelStore) store = open_fine (self);

    set (store, "a:2", TRUE);
    set (store, "a:\"1", TRUE);
    set (store, "a:3", TRUE);
    set (store, "a:3", FALSE);
  }
  {
    g_autoptr (SbxChannelStore) store = open_fine (self);

    g_assert_true (sbx_channel_store_has (store, "a:2"));
    g_assert_true (sbx_channel_store_has (store, "a:\"1"));
    g_assert_false (sbx_channel_store_has (store, "a:3"));
    g_assert_cmpuint (sbx_channel_store_count (store), ==, 2);
  }
  g_assert_true (g_file_get_contents (self->path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "[\"a:\\\"1\",\"a:2\"]\n");
  g_assert_no_errno (stat (self->path, &status));
  g_assert_cmpuint (status.st_mode & 07777, ==, 0600);
}

static void
test_initial (Fixture *self, gconstpointer data)
{
  const char *const initial[] = { "a:1", NULL };
  const char *const other[] = { "a:9", NULL };
  g_autoptr (SbxChannelStore) store = sbx_channel_store_open (self->path, initial, NULL);

  g_assert_true (sbx_channel_store_has (store, "a:1"));
  g_clear_pointer (&store, sbx_channel_store_free);
  store = sbx_channel_store_open (self->path, other, NULL);
  g_assert_true (sbx_channel_store_has (store, "a:1"));
  g_assert_false (sbx_channel_store_has (store, "a:9"));
}

static const char *const malformed[] = {
  "", "{}", "[1]", "[\"a\"]", "[\"a:1\"", "[\"a:1\"] x", "[\"a:\\u000a\"]", "null"
};

static void
test_malformed (Fixture *self, gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (malformed); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", malformed[i]);
      g_assert_true (
        g_file_set_contents_full (self->path, malformed[i], -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
      g_assert_null (sbx_channel_store_open (self->path, NULL, &error));
      g_assert_error (error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_MALFORMED);
      g_assert_nonnull (strstr (error->message, self->path));
    }
}

static void
assert_unsafe (Fixture *self)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (sbx_channel_store_open (self->path, NULL, &error));
  g_assert_error (error, SBX_STATE_DIR_ERROR, SBX_STATE_DIR_ERROR_UNSAFE);
}

static void
test_unsafe (Fixture *self, gconstpointer data)
{
  g_assert_no_errno (symlink ("/etc/hostname", self->path));
  assert_unsafe (self);
  g_assert_no_errno (g_unlink (self->path));
  g_assert_true (g_file_set_contents_full (self->path, "[]", -1, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
  g_assert_no_errno (chmod (self->path, 0644));
  assert_unsafe (self);
  g_assert_no_errno (chmod (self->path, 0600));
  g_assert_no_errno (chmod (self->directory, 0750));
  assert_unsafe (self);
  g_assert_no_errno (g_unlink (self->path));
  g_assert_no_errno (chmod (self->directory, 0700));
  /* A FIFO at the place must not hang the start. */
  g_assert_no_errno (mkfifo (self->path, 0600));
  assert_unsafe (self);
}

/* A change that cannot be written has not happened. */
static void
test_write_fails (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxChannelStore) store = open_fine (self);
  g_autofree char *temporary = g_strconcat (self->path, ".tmp", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_no_errno (g_mkdir (temporary, 0700));
  error = try_set (store, "a:1", TRUE);
  g_assert_error (error, SBX_STATE_DIR_ERROR, SBX_STATE_DIR_ERROR_IO);
  g_assert_false (sbx_channel_store_has (store, "a:1"));
  g_assert_no_errno (g_rmdir (temporary));
  set (store, "a:1", TRUE);
  g_assert_no_errno (g_mkdir (temporary, 0700));
  g_clear_error (&error);
  error = try_set (store, "a:1", FALSE);
  g_assert_nonnull (error);
  g_assert_true (sbx_channel_store_has (store, "a:1"));
  g_assert_no_errno (g_rmdir (temporary));
}

/* The last one is not told when the store is freed, but it is on the disk. */
static void
test_freed_meanwhile (Fixture *self, gconstpointer data)
{
  {
    g_autoptr (SbxChannelStore) store = open_fine (self);

    for (guint i = 0; i < 10; i++)
      {
        g_autofree char *key = g_strdup_printf ("a:%u", i);

        sbx_channel_store_set (store, key, TRUE, NULL, NULL);
      }
  }
  {
    g_autoptr (SbxChannelStore) store = open_fine (self);

    g_assert_cmpuint (sbx_channel_store_count (store), ==, 10);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/channel-store/keys", test_keys);
#define ADD(name, func) g_test_add ("/turn/channel-store/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("modes-stay", test_modes_stay);
  ADD ("initial", test_initial);
  ADD ("malformed", test_malformed);
  ADD ("unsafe", test_unsafe);
  ADD ("write-fails", test_write_fails);
  ADD ("freed-meanwhile", test_freed_meanwhile);
  return g_test_run ();
}
