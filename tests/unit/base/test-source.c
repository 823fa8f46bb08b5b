/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/source.h"

#include <sys/socket.h>
#include <unistd.h>

typedef struct {
  GSource *source;
  guint n_calls;
} Owner;

static gboolean
on_idle (gpointer user_data)
{
  Owner *owner = user_data;

  owner->n_calls++;
  sbx_source_clear (&owner->source);
  return G_SOURCE_CONTINUE;
}

static void
owner_attach (Owner *owner)
{
  owner->source = g_idle_source_new ();
  g_source_set_callback (owner->source, on_idle, owner, NULL);
  g_source_attach (owner->source, NULL);
}

static void
test_cleared_never_runs (void)
{
  Owner owner = { NULL, 0 };

  owner_attach (&owner);
  sbx_source_clear (&owner.source);
  g_assert_null (owner.source);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (owner.n_calls, ==, 0);
  sbx_source_clear (&owner.source);
}

/* Not within the caller, and before what waits for the loop to be idle. */
static void
test_soon (void)
{
  Owner idle = { NULL, 0 };
  Owner owner = { NULL, 0 };

  owner_attach (&idle);
  owner.source = sbx_source_soon (on_idle, &owner);
  g_assert_cmpuint (owner.n_calls, ==, 0);
  g_assert_true (g_main_context_iteration (NULL, FALSE));
  g_assert_cmpuint (owner.n_calls, ==, 1);
  g_assert_cmpuint (idle.n_calls, ==, 0);
  g_assert_null (owner.source);
  sbx_source_clear (&idle.source);
}

static void
test_from_its_own_callback (void)
{
  Owner owner = { NULL, 0 };

  owner_attach (&owner);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (owner.n_calls, ==, 1);
  g_assert_null (owner.source);
}

typedef struct {
  GIOCondition seen;
  guint n_calls;
} Watcher;

static gboolean
on_ready (int fd, GIOCondition condition, gpointer user_data)
{
  Watcher *watcher = user_data;

  watcher->seen = condition;
  watcher->n_calls++;
  return G_SOURCE_CONTINUE;
}

/* It tells what it waits for, which may change, and a hang-up always. */
static void
test_watch (void)
{
  Watcher watcher = { 0 };
  GSource *source;
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
  source = sbx_source_watch_fd (fds[0], G_IO_IN, G_PRIORITY_DEFAULT, on_ready, &watcher);
  g_assert_false (g_main_context_iteration (NULL, FALSE));
  g_assert_cmpint (write (fds[1], "x", 1), ==, 1);
  g_assert_true (g_main_context_iteration (NULL, FALSE));
  g_assert_cmpint (watcher.seen, ==, G_IO_IN);

  sbx_source_watch_set (source, 0);
  g_assert_false (g_main_context_iteration (NULL, FALSE));
  sbx_source_watch_set (source, G_IO_IN | G_IO_OUT);
  g_assert_true (g_main_context_iteration (NULL, FALSE));
  g_assert_cmpint (watcher.seen, ==, G_IO_IN | G_IO_OUT);

  sbx_source_watch_set (source, 0);
  g_assert_cmpint (close (fds[1]), ==, 0);
  g_assert_true (g_main_context_iteration (NULL, FALSE));
  g_assert_cmpint (watcher.seen & G_IO_HUP, ==, G_IO_HUP);
  g_assert_cmpuint (watcher.n_calls, ==, 3);
  sbx_source_clear (&source);
  g_assert_false (g_main_context_iteration (NULL, FALSE));
  g_assert_cmpint (close (fds[0]), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/source/cleared-never-runs", test_cleared_never_runs);
  g_test_add_func ("/base/source/soon", test_soon);
  g_test_add_func ("/base/source/from-its-own-callback", test_from_its_own_callback);
  g_test_add_func ("/base/source/watch", test_watch);
  return g_test_run ();
}
