/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/reaper.h"

#include <string.h>
#include <unistd.h>

#include "../container/fake-docker.h"
#include "turn/sweep.h"

#define INSTALLATION "0123456789abcdef0123456789abcdef"
#define LIST         "GET /v1.41/containers/json?all=1"
#define DELETE       "DELETE /v1.41/containers/"
#define GONE         "HTTP/1.1 204 No Content\r\n\r\n"

static void
on_changed (gpointer user_data)
{
  (*(guint *) user_data)++;
}

/* Docker never removes anything: what is remembered has a bound. */
static void
test_bounded (void)
{
  g_autoptr (FakeDocker) docker = fake_docker_new ();
  g_autoptr (SbxEngine) engine = sbx_engine_new (fake_docker_path (docker));
  guint n_changes = 0;
  g_autoptr (SbxReaper) reaper = sbx_reaper_new (engine, on_changed, &n_changes);

  sbx_reaper_suspect (reaper, "s", "c");
  for (guint i = 0; i < SBX_REAPER_MAX + 100; i++)
    {
      g_autofree char *name = g_strdup_printf ("c%u", i);

      sbx_reaper_add (reaper, "t", name, NULL, "why");
      sbx_reaper_suspect (reaper, "t", name);
    }
  g_assert_cmpuint (sbx_reaper_n_left (reaper), <, SBX_REAPER_MAX);
  g_assert_cmpuint (sbx_reaper_n_left (reaper), ==, n_changes);
}

/* Several are due at once and come again soon: what was asked for one is over with its answer. */
static void
test_keeps_no_connection (void)
{
  g_autoptr (FakeDocker) docker = fake_docker_new ();
  g_autoptr (SbxEngine) engine = sbx_engine_new (fake_docker_path (docker));
  g_autoptr (SbxReaper) reaper = sbx_reaper_new (engine, NULL, NULL);

  for (guint i = 0; i < 2; i++)
    fake_docker_add (docker, DELETE "c", GONE, -1, FAKE_CLOSE);
  sbx_reaper_add (reaper, "t", "c", NULL, "why");
  sbx_reaper_suspect (reaper, "s", "c");
  while (sbx_reaper_n_left (reaper) > 0 || fake_docker_n_requests (docker) < 2)
    g_main_context_iteration (NULL, TRUE);
  for (guint i = 0; i < 2; i++)
    g_assert_nonnull (strstr (fake_docker_request (docker, i), "\r\nConnection: close\r\n"));
}

static gboolean
is_live (const char *turn, gpointer user_data)
{
  return g_str_equal (turn, "live");
}

static void
on_swept (gboolean clean, gpointer user_data)
{
  *(int *) user_data = clean;
}

static int
sweep (SbxSweep *self)
{
  int clean = -1;

  sbx_sweep_run (self, NULL, on_swept, &clean);
  while (clean < 0)
    g_main_context_iteration (NULL, TRUE);
  return clean;
}

static void
script_list (FakeDocker *docker, guint n)
{
  g_autoptr (GString) body =
    g_string_new ("[{\"Id\":\"l\",\"Names\":[\"/l\"],\"State\":\"running\",\"Labels\":{"
                  "\"org.roundtable.sandbox.turn\":\"live\"}}");

  for (guint i = 0; i < n; i++)
    g_string_append_printf (body,
                            ",{\"Id\":\"c%u\",\"Names\":[\"/c%u\"],\"State\":\"created\",\"Labels\":{"
                            "\"org.roundtable.sandbox.turn\":\"t%u\"}}",
                            i, i, i);
  g_string_append_c (body, ']');
  fake_docker_add_json (docker, LIST, 200, body->str);
}

/* What the reaper had no room for is found by its label, a bounded number at a time. */
static void
test_sweep (void)
{
  g_autofree char *run = g_dir_make_tmp ("sbx-sweep-XXXXXX", NULL);
  g_autoptr (FakeDocker) docker = fake_docker_new ();
  g_autoptr (SbxEngine) engine = sbx_engine_new (fake_docker_path (docker));
  g_autoptr (SbxSweep) self = sbx_sweep_new (engine, INSTALLATION, run, is_live, NULL);

  script_list (docker, SBX_SWEEP_MAX + 2);
  for (guint i = 0; i < SBX_SWEEP_MAX; i++)
    fake_docker_add (docker, DELETE "c", GONE, -1, FAKE_CLOSE);
  g_assert_cmpint (sweep (self), ==, FALSE);
  g_assert_cmpuint (fake_docker_n_requests (docker), ==, 1 + SBX_SWEEP_MAX);
  script_list (docker, 2);
  fake_docker_add (docker, DELETE "c", GONE, -1, FAKE_CLOSE);
  fake_docker_add (docker, DELETE "c", GONE, -1, FAKE_CLOSE);
  g_assert_cmpint (sweep (self), ==, TRUE);
  script_list (docker, 0);
  g_assert_cmpint (sweep (self), ==, TRUE);
  g_assert_no_errno (rmdir (run));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/reaper/bounded", test_bounded);
  g_test_add_func ("/turn/reaper/keeps-no-connection", test_keeps_no_connection);
  g_test_add_func ("/turn/reaper/sweep", test_sweep);
  return g_test_run ();
}
