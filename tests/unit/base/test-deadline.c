/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/deadline.h"

typedef struct {
  GMainLoop *loop;
  SbxDeadline *deadline;
  guint calls;
} Fixture;

static void
on_passed (gpointer user_data)
{
  Fixture *fixture = user_data;

  fixture->calls++;
  g_assert_cmpuint (sbx_deadline_left_msec (fixture->deadline), ==, 0);
  g_clear_pointer (&fixture->deadline, sbx_deadline_free); /* allowed inside */
  g_main_loop_quit (fixture->loop);
}

static void
on_never (gpointer user_data)
{
  g_assert_not_reached ();
}

static void
test_passes_once (void)
{
  Fixture fixture = { .loop = g_main_loop_new (NULL, FALSE) };

  fixture.deadline = sbx_deadline_new (0, on_passed, &fixture);
  g_main_loop_run (fixture.loop);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (fixture.calls, ==, 1);
  g_main_loop_unref (fixture.loop);
}

static void
test_freed_before (void)
{
  Fixture fixture = { .loop = g_main_loop_new (NULL, FALSE) };
  SbxDeadline *never = sbx_deadline_new (0, on_never, NULL);

  sbx_deadline_free (never);
  sbx_deadline_free (NULL);
  /* A later one passes, so the freed one had its chance. */
  fixture.deadline = sbx_deadline_new (1, on_passed, &fixture);
  g_main_loop_run (fixture.loop);
  g_assert_cmpuint (fixture.calls, ==, 1);
  g_main_loop_unref (fixture.loop);
}

static void
test_is_bounded (void)
{
  g_autoptr (SbxDeadline) deadline = sbx_deadline_new (G_MAXUINT, on_never, NULL);

  g_assert_cmpuint (sbx_deadline_left_msec (deadline), <=, SBX_DEADLINE_MAX_MSEC);
  g_assert_cmpuint (sbx_deadline_left_msec (deadline), >, SBX_DEADLINE_MAX_MSEC / 2);
}

/* It belongs to the context of the thread that made it. */
static void
test_own_context (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  Fixture fixture = { .loop = g_main_loop_new (context, FALSE) };

  g_main_context_push_thread_default (context);
  fixture.deadline = sbx_deadline_new (0, on_passed, &fixture);
  g_main_loop_run (fixture.loop);
  g_main_context_pop_thread_default (context);
  g_assert_cmpuint (fixture.calls, ==, 1);
  g_main_loop_unref (fixture.loop);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/deadline/passes-once", test_passes_once);
  g_test_add_func ("/deadline/freed-before", test_freed_before);
  g_test_add_func ("/deadline/bounded", test_is_bounded);
  g_test_add_func ("/deadline/own-context", test_own_context);
  return g_test_run ();
}
