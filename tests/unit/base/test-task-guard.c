/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/task-guard.h"

#define FAR_MSEC 3600000u

typedef struct {
  SbxTaskGuard *guard; /* freed by whoever is told */
  guint n_calls;
  gboolean cancelled;
} Owner;

static void
on_over (gpointer user_data, gboolean cancelled)
{
  Owner *owner = user_data;

  owner->n_calls++;
  owner->cancelled = cancelled;
  g_assert_null (owner->guard->timer);
  g_assert_null (owner->guard->cancelled);
  sbx_task_guard_disarm (owner->guard);
  g_clear_pointer (&owner->guard, g_free); /* allowed inside */
}

static void
run_down (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
test_deadline (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Owner owner = { .guard = g_new0 (SbxTaskGuard, 1) };

  sbx_task_guard_arm (owner.guard, 1, cancellable, on_over, &owner);
  while (owner.n_calls == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (owner.cancelled);
  g_cancellable_cancel (cancellable);
  run_down ();
  g_assert_cmpuint (owner.n_calls, ==, 1);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Owner owner = { .guard = g_new0 (SbxTaskGuard, 1) };

  sbx_task_guard_arm (owner.guard, FAR_MSEC, cancellable, on_over, &owner);
  run_down ();
  g_assert_cmpuint (owner.n_calls, ==, 0);
  g_cancellable_cancel (cancellable);
  g_assert_cmpuint (owner.n_calls, ==, 0);
  run_down ();
  g_assert_cmpuint (owner.n_calls, ==, 1);
  g_assert_true (owner.cancelled);
}

static void
test_cancelled_before (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Owner owner = { .guard = g_new0 (SbxTaskGuard, 1) };

  g_cancellable_cancel (cancellable);
  sbx_task_guard_arm (owner.guard, FAR_MSEC, cancellable, on_over, &owner);
  g_assert_cmpuint (owner.n_calls, ==, 0);
  run_down ();
  g_assert_cmpuint (owner.n_calls, ==, 1);
  g_assert_true (owner.cancelled);
}

/* Neither what was due already nor what comes later is told. */
static void
test_disarmed (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  SbxTaskGuard guard = { 0 };
  Owner owner = { .guard = &guard };

  sbx_task_guard_disarm (&guard);
  sbx_task_guard_arm (&guard, 0, cancellable, on_over, &owner);
  g_cancellable_cancel (cancellable);
  sbx_task_guard_disarm (&guard);
  sbx_task_guard_disarm (&guard);
  run_down ();
  g_assert_cmpuint (owner.n_calls, ==, 0);
}

static void
test_no_cancellable (void)
{
  Owner owner = { .guard = g_new0 (SbxTaskGuard, 1) };

  sbx_task_guard_arm (owner.guard, 0, NULL, on_over, &owner);
  while (owner.n_calls == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (owner.cancelled);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/task-guard/deadline", test_deadline);
  g_test_add_func ("/task-guard/cancelled", test_cancelled);
  g_test_add_func ("/task-guard/cancelled-before", test_cancelled_before);
  g_test_add_func ("/task-guard/disarmed", test_disarmed);
  g_test_add_func ("/task-guard/no-cancellable", test_no_cancellable);
  return g_test_run ();
}
