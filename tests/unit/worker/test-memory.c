/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <glib/gstdio.h>
#include <string.h>

#include "history.h"
#include "json-in.h"
#include "memory.h"

static const struct {
  const char *json;
  int n_entries; /* -1: malformed */
} cases[] = {
  { "[]", 0 },
  { "[{\"scope\":\"channel\",\"key\":\"k\",\"text\":\"t\",\"more\":[1]}]", 1 },
  { "[{\"scope\":\"\",\"key\":\"\",\"text\":\"\"}]", 1 },
  { "", -1 },
  { "[", -1 },
  { "{}", -1 },
  { "null", -1 },
  { "[null]", -1 },
  { "[{\"scope\":\"channel\",\"key\":\"k\"}]", -1 },
  { "[{\"scope\":\"channel\",\"key\":\"k\",\"text\":1}]", -1 },
  { "[{\"scope\":\"channel\",\"key\":\"k\",\"text\":\"\xff\"}]", -1 },
};

static void
test_file (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) entries = sbx_memory_parse (cases[i].json, strlen (cases[i].json), &error);
      g_autofree char *shown =
        g_strescape (cases[i].json, NULL); /* one of them is no UTF-8, as TAP must be */

      g_test_message ("%s", shown);
      g_assert_cmpint (entries != NULL ? (int) entries->len : -1, ==, cases[i].n_entries);
      g_assert_true ((error != NULL) == (entries == NULL));
    }
}

/* A file of a few MB can be a million values, each of which costs a hundred bytes when read. */
static void
test_file_of_many_values (void)
{
  g_autoptr (GString) json = g_string_new ("[");

  while (json->len < SBX_STORE_MAX_BYTES - 4)
    g_string_append (json, "{},");
  g_string_append (json, "{}]");
  g_assert_null (sbx_memory_parse (json->str, json->len, NULL));
  g_assert_null (sbx_history_parse (json->str, json->len, NULL));
}

static char *
call (SbxMemory *memory, char *(*tool) (SbxMemory *, GVariant *, GError **), const char *json)
{
  g_autoptr (GVariant) arguments = sbx_json_in_read (json, strlen (json), strlen (json), NULL);

  return tool (memory, arguments, NULL);
}

/* A write that fails changes nothing in memory either. */
static void
test_failed_write_changes_nothing (void)
{
  g_autofree char *dir = g_dir_make_tmp ("worker-memory-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, SBX_MEMORY_FILE, NULL);
  g_autoptr (SbxStore) store = sbx_store_open (dir, NULL);
  g_autoptr (SbxMemory) memory = sbx_memory_load (store, "me", NULL);
  g_autofree char *set =
    call (memory, sbx_memory_set, "{\"scope\":\"speaker\",\"key\":\"k\",\"text\":\"old\"}");
  g_autofree char *again = NULL;
  g_autofree char *list = NULL;

  g_assert_nonnull (set);
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  again = call (memory, sbx_memory_set, "{\"scope\":\"speaker\",\"key\":\"k\",\"text\":\"new\"}");
  g_assert_null (again);
  list = sbx_memory_list (memory, TRUE);
  g_assert_cmpstr (list, ==, "[{\"key\":\"k\",\"text\":\"old\"}]");
  g_assert_cmpint (g_rmdir (path), ==, 0);
  g_assert_cmpint (g_rmdir (dir), ==, 0); /* no temporary file is left */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/memory/file", test_file);
  g_test_add_func ("/worker/memory/many-values", test_file_of_many_values);
  g_test_add_func ("/worker/memory/failed-write", test_failed_write_changes_nothing);
  return g_test_run ();
}
