/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/scope-events.h"

#include <glib/gstdio.h>
#include <stdio.h>

#define ID "0123"

static void
test_words (void)
{
  g_assert_true (sbx_scope_events_says ("low 0\noom 1\noom_kill 1\n", "oom_kill"));
  g_assert_false (sbx_scope_events_says ("oom 1\noom_kill 0\noom_group_kill 1\n", "oom_kill"));
  g_assert_false (sbx_scope_events_says ("oom_group_kill 1\n", "oom_kill"));
  g_assert_true (sbx_scope_events_says ("max 12", "max"));
  g_assert_false (sbx_scope_events_says ("", "max"));
}

typedef struct {
  const char *below;
  const char *file;
  const char *quiet;
  const char *event;
  gboolean oom;
} Case;

static const Case cases[] = {
  { "", "memory.events", "oom_kill 0\n", "oom_kill 1\n", TRUE },
  { "", "pids.events", "max 0\n", "max 3\n", FALSE },
  { "pids/", "pids.events", "max 0\n", "max 3\n", FALSE },
};

static void
write_over (const char *path, const char *text)
{
  /* In place, as the kernel does. */
  FILE *file = fopen (path, "w");

  g_assert_nonnull (file);
  g_assert_cmpint (fputs (text, file), >=, 0);
  g_assert_no_errno (fclose (file));
}

/* Seen while the scope is there, known when it has gone. */
static void
test_events (gconstpointer data)
{
  const Case *one = data;
  g_autofree char *root = g_dir_make_tmp ("sbx-cgroup-XXXXXX", NULL);
  g_autofree char *scope =
    g_strdup_printf ("%s/%ssandboxd.slice/sandboxd-turn.slice/docker-" ID ".scope", root, one->below);
  g_autofree char *file = g_build_filename (scope, one->file, NULL);
  g_autofree char *place = g_strdup (scope);
  SbxScopeEvents *events;

  g_assert_no_errno (g_mkdir_with_parents (scope, 0700));
  write_over (file, one->quiet);
  events = sbx_scope_events_new (root, ID);
  g_assert_false (sbx_scope_events_saw_oom (events));
  g_assert_false (sbx_scope_events_saw_pids (events));
  write_over (file, one->event);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_no_errno (g_remove (file));
  g_assert_cmpint (sbx_scope_events_saw_oom (events), ==, one->oom);
  g_assert_cmpint (sbx_scope_events_saw_pids (events), ==, !one->oom);
  sbx_scope_events_free (events);
  while (g_str_has_prefix (place, root) && g_rmdir (place) == 0)
    {
      g_autofree char *below = g_steal_pointer (&place);

      place = g_path_get_dirname (below);
    }
}

static void
test_nothing_there (void)
{
  g_autoptr (SbxScopeEvents) events = sbx_scope_events_new ("/nonexistent", ID);

  g_assert_false (sbx_scope_events_saw_oom (events));
  g_assert_false (sbx_scope_events_saw_pids (NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/scope-events/words", test_words);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strdup_printf ("/turn/scope-events/events/%zu", i);

      g_test_add_data_func (name, &cases[i], test_events);
    }
  g_test_add_func ("/turn/scope-events/nothing-there", test_nothing_there);
  return g_test_run ();
}
