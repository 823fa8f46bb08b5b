/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/record-store.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "slow-disk.h"

typedef struct {
  char *top;
  char *path;
  guint n_gone;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->top = g_dir_make_tmp ("sbx-records-XXXXXX", NULL);
  self->path = g_build_filename (self->top, "turns", NULL);
}

static void
remove_directory (Fixture *self)
{
  g_autoptr (GDir) directory = g_dir_open (self->path, 0, NULL);
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *file = g_build_filename (self->path, name, NULL);

      g_assert_no_errno (g_remove (file));
    }
  g_assert_no_errno (g_rmdir (self->path));
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  if (g_file_test (self->path, G_FILE_TEST_EXISTS))
    remove_directory (self);
  g_assert_no_errno (g_rmdir (self->top));
  g_free (self->path);
  g_free (self->top);
}

static SbxRecordStore *
open_fine (Fixture *self)
{
  g_autoptr (GError) error = NULL;
  SbxRecordStore *store = sbx_record_store_open (self->path, &error);

  g_assert_no_error (error);
  return store;
}

static guint
count_files (Fixture *self)
{
  g_autoptr (GDir) directory = g_dir_open (self->path, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (directory) != NULL)
    n++;
  return n;
}

static const SbxTurnRequest detached = { .channel = "a:1",
                                         .speaker_id = "7",
                                         .speaker_name = "Ada \"A\"",
                                         .principal = "p",
                                         .text = "hi\n",
                                         .message_id = "m1",
                                         .uid = 5,
                                         .deadline_msec = 9000,
                                         .detached = TRUE };
static const SbxTurnRequest attached = {
  .channel = "a:1", .speaker_id = "7", .speaker_name = "Ada", .text = "a secret", .uid = 5
};

static void
accept (SbxRecordStore *store, const char *turn, const SbxTurnRequest *request, gint64 accepted_usec)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sbx_record_store_accept (store, turn, request, accepted_usec, &error));
  g_assert_no_error (error);
}

static void
finish (SbxRecordStore *store, const char *turn, const SbxTurnRequest *request, const char *text)
{
  SbxOutcome outcome = { .kind = SBX_OUTCOME_FAILED, .failure = SBX_FAILURE_DOCKER_DOWN };

  if (text != NULL)
    outcome = (SbxOutcome){ .kind = SBX_OUTCOME_REPLIED, .ok = TRUE, .text = (char *) text };
  sbx_record_store_finish (store, turn, request, 1, &outcome);
}

static void
assert_kept (SbxRecordStore *store)
{
  const SbxRecord *record = sbx_record_store_find (store, "t1");
  g_autofree char *text = NULL;

  g_assert_nonnull (record);
  g_assert_true (record == sbx_record_store_find_message (store, 5, "a:1", "m1"));
  g_assert_null (sbx_record_store_find_message (store, 6, "a:1", "m1"));
  g_assert_null (sbx_record_store_find_message (store, 5, "a:2", "m1"));
  g_assert_cmpint (record->kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_true (record->ok);
  g_assert_cmpuint (record->uid, ==, 5);
  g_assert_cmpstr (record->channel, ==, "a:1");
  text = sbx_record_store_text (store, record);
  g_assert_cmpstr (text, ==, "the \"reply\"\n");
  record = sbx_record_store_find (store, "t2");
  g_assert_nonnull (record);
  g_assert_cmpint (record->failure, ==, SBX_FAILURE_DOCKER_DOWN);
  g_assert_null (sbx_record_store_text (store, record));
}

static void
test_outcomes_survive (Fixture *self, gconstpointer data)
{
  struct stat status;
  g_autofree char *file = g_build_filename (self->path, "t1.done", NULL);

  {
    g_autoptr (SbxRecordStore) store = open_fine (self);

    accept (store, "t1", &detached, 1);
    g_assert_true (sbx_record_store_start (store, "t1", NULL));
    finish (store, "t1", &detached, "the \"reply\"\n");
    accept (store, "t2", &attached, 2);
    finish (store, "t2", &attached, NULL);
    assert_kept (store);
  }
  g_assert_cmpuint (count_files (self), ==, 2);
  g_assert_no_errno (stat (file, &status));
  g_assert_cmpuint (status.st_mode & 07777, ==, 0600);
  {
    g_autoptr (SbxRecordStore) store = open_fine (self);
    g_autoptr (GPtrArray) unfinished = sbx_record_store_take_unfinished (store);

    g_assert_cmpuint (unfinished->len, ==, 0);
    assert_kept (store);
  }
}

static void
test_unfinished_come_back (Fixture *self, gconstpointer data)
{
  g_autofree char *file = g_build_filename (self->path, "t1.queued", NULL);
  g_autofree char *content = NULL;

  {
    g_autoptr (SbxRecordStore) store = open_fine (self);

    accept (store, "t3", &detached, 30);
    accept (store, "t1", &attached, 20);
    accept (store, "t2", &detached, 10);
    g_assert_true (sbx_record_store_start (store, "t2", NULL));
  }
  /* What is not to run again is not kept. */
  g_assert_true (g_file_get_contents (file, &content, NULL, NULL));
  g_assert_null (strstr (content, "secret"));
  {
    g_autoptr (SbxRecordStore) store = open_fine (self);
    g_autoptr (GPtrArray) unfinished = sbx_record_store_take_unfinished (store);
    const SbxUnfinished *turn;

    g_assert_cmpuint (unfinished->len, ==, 3);
    turn = unfinished->pdata[0];
    g_assert_cmpstr (turn->turn, ==, "t2");
    g_assert_true (turn->started);
    turn = unfinished->pdata[1];
    g_assert_cmpstr (turn->turn, ==, "t1");
    g_assert_false (turn->whole);
    turn = unfinished->pdata[2];
    g_assert_cmpstr (turn->turn, ==, "t3");
    g_assert_false (turn->started);
    g_assert_true (turn->whole);
    g_assert_cmpstr (turn->request.text, ==, "hi\n");
    g_assert_cmpstr (turn->request.speaker_name, ==, "Ada \"A\"");
    g_assert_cmpstr (turn->request.principal, ==, "p");
    g_assert_cmpstr (turn->request.message_id, ==, "m1");
    g_assert_cmpuint (turn->request.deadline_msec, ==, 9000);
    g_assert_cmpuint (turn->request.uid, ==, 5);
  }
}

static void
on_gone (const char *turn, gpointer user_data)
{
  Fixture *self = user_data;

  self->n_gone++;
}

static void
test_bounded (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxRecordStore) store = open_fine (self);
  g_autoptr (GPtrArray) list = NULL;

  sbx_record_store_set_gone (store, on_gone, self);
  for (guint i = 0; i < SBX_RECORD_MAX + 3; i++)
    {
      g_autofree char *turn = g_strdup_printf ("t%u", i);

      finish (store, turn, &attached, "x");
    }
  list = sbx_record_store_list (store);
  g_assert_cmpuint (list->len, ==, SBX_RECORD_MAX);
  g_assert_cmpuint (self->n_gone, ==, 3);
  g_assert_null (sbx_record_store_find (store, "t2"));
  g_assert_nonnull (sbx_record_store_find (store, "t3"));
  g_assert_cmpuint (count_files (self), ==, SBX_RECORD_MAX);
}

static void
test_old_ones_go (Fixture *self, gconstpointer data)
{
  g_autofree char *file = NULL;

  {
    g_autoptr (SbxRecordStore) store = open_fine (self);
  }
  file = g_build_filename (self->path, "t1.done", NULL);
  g_assert_true (g_file_set_contents (file,
                                      "{\"channel\":\"a:1\",\"uid\":1,\"accepted\":1,\"finished\":2,"
                                      "\"outcome\":1,\"failure\":0,\"ok\":1,\"text\":\"x\"}",
                                      -1, NULL));
  g_assert_no_errno (chmod (file, 0600));
  {
    g_autoptr (SbxRecordStore) store = open_fine (self);

    g_assert_null (sbx_record_store_find (store, "t1"));
    g_assert_cmpuint (count_files (self), ==, 0);
  }
}

static void
test_purge (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxRecordStore) store = open_fine (self);
  SbxTurnRequest other = attached;

  other.channel = "a:2";
  finish (store, "t1", &detached, "x");
  finish (store, "t2", &other, "x");
  sbx_record_store_purge (store, "a:1");
  g_assert_null (sbx_record_store_find (store, "t1"));
  g_assert_null (sbx_record_store_find_message (store, 5, "a:1", "m1"));
  g_assert_nonnull (sbx_record_store_find (store, "t2"));
  g_assert_cmpuint (count_files (self), ==, 1);
}

/* The directory is gone: what was told stays true. */
static void
test_write_fails (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxRecordStore) store = open_fine (self);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  remove_directory (self);
  g_assert_false (sbx_record_store_accept (store, "t1", &detached, 1, &error));
  g_assert_error (error, SBX_STATE_DIR_ERROR, SBX_STATE_DIR_ERROR_IO);
  g_assert_false (sbx_record_store_start (store, "t1", NULL));
  finish (store, "t1", &detached, "reply");
  g_assert_nonnull (sbx_record_store_find (store, "t1"));
  text = sbx_record_store_text (store, sbx_record_store_find (store, "t1"));
  g_assert_cmpstr (text, ==, "reply");
}

static void
on_kept (const GError *error, gpointer user_data)
{
  *(const char **) user_data = error != NULL ? "error" : "kept";
}

/* Whoever is told that a turn was taken is told so when that is on the disk; a request goes when its outcome
 * is. */
static void
test_slow_disk (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxRecordStore) store = open_fine (self);
  const char *told = NULL;

  slow_disk_stop ();
  accept (store, "t1", &detached, 1);
  sbx_record_store_when_kept (store, on_kept, &told);
  finish (store, "t1", &detached, "reply");
  for (guint i = 0; i < 100; i++)
    g_main_context_iteration (NULL, FALSE);
  g_assert_null (told);
  g_assert_cmpuint (count_files (self), ==, 2);
  slow_disk_go ();
  while (told == NULL || count_files (self) > 1)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (told, ==, "kept");
  told = NULL;
  slow_disk_fail (1);
  accept (store, "t2", &detached, 1);
  sbx_record_store_when_kept (store, on_kept, &told);
  while (told == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (told, ==, "error");
}

/* From here on no outcome of t1 can be written, though all else can; or again. */
static void
block_outcome (Fixture *self, gboolean blocked)
{
  g_autofree char *way = g_build_filename (self->path, "t1.done.tmp", NULL);

  g_assert_no_errno (blocked ? g_mkdir (way, 0700) : g_rmdir (way));
}

static void
assert_nothing_left (Fixture *self)
{
  g_autoptr (SbxRecordStore) store = open_fine (self);
  g_autoptr (GPtrArray) unfinished = sbx_record_store_take_unfinished (store);

  g_assert_cmpuint (unfinished->len, ==, 0);
  g_assert_null (sbx_record_store_find (store, "t1"));
}

/* What was dropped stays away, also where only its request was in the files. */
static void
test_unsaved_dropped (Fixture *self, gconstpointer data)
{
  for (guint round = 0; round < 4; round++)
    {
      {
        g_autoptr (SbxRecordStore) store = open_fine (self);

        accept (store, "t1", &detached, 1);
        if (round % 2 == 0)
          g_assert_true (sbx_record_store_start (store, "t1", NULL));
        block_outcome (self, TRUE);
        finish (store, "t1", &detached, "reply");
        if (round < 2)
          sbx_record_store_purge (store, "a:1");
        else
          for (guint i = 0; i < SBX_RECORD_MAX; i++)
            {
              g_autofree char *turn = g_strdup_printf ("t%u", i + 2);

              finish (store, turn, &attached, "x");
            }
        g_assert_null (sbx_record_store_find (store, "t1"));
        sbx_record_store_purge (store, "a:1");
      }
      block_outcome (self, FALSE);
      assert_nothing_left (self);
    }
}

/* A turn that was cancelled while it waited has had its outcome: a restart must not run it. */
static void
test_unsaved_never_runs (Fixture *self, gconstpointer data)
{
  {
    g_autoptr (SbxRecordStore) store = open_fine (self);

    accept (store, "t1", &detached, 1);
    block_outcome (self, TRUE);
    finish (store, "t1", &detached, NULL);
  }
  block_outcome (self, FALSE);
  {
    g_autoptr (SbxRecordStore) store = open_fine (self);
    g_autoptr (GPtrArray) unfinished = sbx_record_store_take_unfinished (store);

    g_assert_cmpuint (unfinished->len, ==, 1);
    g_assert_true (((SbxUnfinished *) unfinished->pdata[0])->started);
    finish (store, "t1", &detached, NULL);
    sbx_record_store_purge (store, detached.channel);
  }
  assert_nothing_left (self);
}

/* The disk has room again before the service ends. */
static void
test_unsaved_is_saved_at_the_end (Fixture *self, gconstpointer data)
{
  {
    g_autoptr (SbxRecordStore) store = open_fine (self);

    accept (store, "t1", &detached, 1);
    block_outcome (self, TRUE);
    finish (store, "t1", &detached, "reply");
    block_outcome (self, FALSE);
  }
  {
    g_autoptr (SbxRecordStore) store = open_fine (self);
    g_autoptr (GPtrArray) unfinished = sbx_record_store_take_unfinished (store);
    g_autofree char *text = NULL;

    g_assert_cmpuint (unfinished->len, ==, 0);
    g_assert_nonnull (sbx_record_store_find (store, "t1"));
    text = sbx_record_store_text (store, sbx_record_store_find (store, "t1"));
    g_assert_cmpstr (text, ==, "reply");
  }
}

static const struct {
  const char *name;
  const char *content;
} broken[] = {
  { "t1.done", "" },
  { "t1.done", "[]" },
  { "t1.done", "{\"channel\":\"a:1\"}" },
  { "t1.done",
    "{\"channel\":\"a:1\",\"uid\":1,\"accepted\":1,\"finished\":2,\"outcome\":99,\"failure\":0,\"ok\":1}" },
  { "t1.done",
    "{\"channel\":\"a:1\",\"uid\":1,\"accepted\":1,\"finished\":2,\"outcome\":0,\"failure\":0,\"ok\":1}" },
  { "t1.done",
    "{\"channel\":1,\"uid\":1,\"accepted\":1,\"finished\":2,\"outcome\":1,\"failure\":0,\"ok\":1}" },
  { "t1.queued", "{\"channel\":\"no key\",\"uid\":1,\"accepted\":1}" },
  { "t1.queued", "{\"channel\":\"a:1\",\"uid\":-1,\"accepted\":1}" },
  { "t1.queued", "{\"channel\":\"a:1\",\"uid\":1,\"accepted\":1,\"deadline_msec\":600001}" },
  { "t1.started", "x" },
  { "T1.done", "{}" },
  { "t1.what", "{}" },
  { "done", "{}" },
};

static void
test_broken_files_go (Fixture *self, gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_autofree char *file = g_build_filename (self->path, broken[i].name, NULL);

      {
        g_autoptr (SbxRecordStore) store = open_fine (self);
      }
      g_assert_true (g_file_set_contents (file, broken[i].content, -1, NULL));
      g_assert_no_errno (chmod (file, 0600));
      {
        g_autoptr (SbxRecordStore) store = open_fine (self);
        g_autoptr (GPtrArray) unfinished = sbx_record_store_take_unfinished (store);

        g_assert_cmpuint (unfinished->len, ==, 0);
        g_assert_null (sbx_record_store_find (store, "t1"));
        g_assert_cmpuint (count_files (self), ==, 0);
      }
    }
}

/* Died between writing the outcome and removing what it replaces. */
static void
test_outcome_counts (Fixture *self, gconstpointer data)
{
  g_autofree char *file = g_build_filename (self->path, "t1.started", NULL);

  {
    g_autoptr (SbxRecordStore) store = open_fine (self);

    finish (store, "t1", &detached, "x");
  }
  g_assert_true (g_file_set_contents (file, "{\"channel\":\"a:1\",\"uid\":5,\"accepted\":1}", -1, NULL));
  g_assert_no_errno (chmod (file, 0600));
  {
    g_autoptr (SbxRecordStore) store = open_fine (self);
    g_autoptr (GPtrArray) unfinished = sbx_record_store_take_unfinished (store);

    g_assert_cmpuint (unfinished->len, ==, 0);
    g_assert_cmpint (sbx_record_store_find (store, "t1")->kind, ==, SBX_OUTCOME_REPLIED);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add ("/turn/record-store/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("outcomes-survive", test_outcomes_survive);
  ADD ("unfinished-come-back", test_unfinished_come_back);
  ADD ("bounded", test_bounded);
  ADD ("old-ones-go", test_old_ones_go);
  ADD ("purge", test_purge);
  ADD ("write-fails", test_write_fails);
  ADD ("slow-disk", test_slow_disk);
  ADD ("unsaved-dropped", test_unsaved_dropped);
  ADD ("unsaved-never-runs", test_unsaved_never_runs);
  ADD ("unsaved-is-saved-at-the-end", test_unsaved_is_saved_at_the_end);
  ADD ("broken-files-go", test_broken_files_go);
  ADD ("outcome-counts", test_outcome_counts);
  return g_test_run ();
}
