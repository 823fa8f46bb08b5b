/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What waits behind a reply. Time is only asked whether it has passed: how late a loop may be is the
 * machine's. */
#include "turn/rest.h"

typedef struct {
  SbxRest *rest;
  GString *done; /* the letters of what was called, in order */
} Fixture;

typedef struct {
  Fixture *fixture;
  char letter;
} Work;

static void
on_go (gpointer user_data)
{
  const Work *work = user_data;

  g_string_append_c (work->fixture->done, work->letter);
}

#define LONG_USEC (600 * (gint64) G_USEC_PER_SEC)

static void
set_up (Fixture *self, gconstpointer data)
{
  self->rest = sbx_rest_new (LONG_USEC, LONG_USEC);
  self->done = g_string_new (NULL);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sbx_rest_free (self->rest);
  g_string_free (self->done, TRUE);
}

static void
run_what_is_due (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
use (Fixture *self, gint64 quiet_usec, gint64 max_usec)
{
  sbx_rest_free (self->rest);
  self->rest = sbx_rest_new (quiet_usec, max_usec);
}

static void
test_quiet (Fixture *self, gconstpointer data)
{
  const gint64 quiet_usec = 20000;
  Work a = { self, 'a' };
  gint64 last;

  use (self, quiet_usec, LONG_USEC);
  do
    sbx_rest_turn (self->rest, self);
  while (sbx_rest_put_off (self->rest, &a, on_go, &a) == NULL);
  g_assert_cmpstr (self->done->str, ==, "");
  last = g_get_monotonic_time ();
  sbx_rest_turn (self->rest, self);
  while (self->done->len == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (g_get_monotonic_time () - last, >=, quiet_usec);
}

/* Turns without end do not put it off for ever. */
static void
test_never_quiet (Fixture *self, gconstpointer data)
{
  Work a = { self, 'a' };

  use (self, LONG_USEC, 20000);
  sbx_rest_turn (self->rest, self);
  g_assert_nonnull (sbx_rest_put_off (self->rest, &a, on_go, &a));
  while (self->done->len == 0)
    {
      sbx_rest_turn (self->rest, self);
      g_main_context_iteration (NULL, FALSE);
    }
}

/* It alone is there: nobody is spared anything. */
static void
test_alone (Fixture *self, gconstpointer data)
{
  Work a = { self, 'a' };
  Work b = { self, 'b' };

  g_assert_null (sbx_rest_put_off (self->rest, &a, on_go, &a));
  sbx_rest_turn (self->rest, &a);
  sbx_rest_turn (self->rest, &a);
  g_assert_null (sbx_rest_put_off (self->rest, &a, on_go, &a));
  sbx_rest_turn (self->rest, &b);
  sbx_rest_turn (self->rest, &a);
  g_assert_nonnull (sbx_rest_put_off (self->rest, &a, on_go, &a));
  sbx_rest_set_wanted (self->rest, TRUE);
  run_what_is_due ();
}

static void
test_wanted (Fixture *self, gconstpointer data)
{
  Work a = { self, 'a' };
  Work b = { self, 'b' };

  sbx_rest_turn (self->rest, self);
  g_assert_nonnull (sbx_rest_put_off (self->rest, &a, on_go, &a));
  g_assert_nonnull (sbx_rest_put_off (self->rest, &b, on_go, &b));
  run_what_is_due ();
  g_assert_cmpstr (self->done->str, ==, "");
  sbx_rest_set_wanted (self->rest, TRUE);
  g_assert_cmpstr (self->done->str, ==, "");
  run_what_is_due ();
  g_assert_cmpstr (self->done->str, ==, "ab");
  g_assert_null (sbx_rest_put_off (self->rest, &a, on_go, &a));
  sbx_rest_set_wanted (self->rest, FALSE);
  g_assert_nonnull (sbx_rest_put_off (self->rest, &a, on_go, &a));
  sbx_rest_set_wanted (self->rest, TRUE);
  run_what_is_due ();
  g_assert_cmpstr (self->done->str, ==, "aba");
}

static void
test_cancelled (Fixture *self, gconstpointer data)
{
  Work a = { self, 'a' };
  Work b = { self, 'b' };
  SbxRestWork *work;

  sbx_rest_turn (self->rest, self);
  work = sbx_rest_put_off (self->rest, &a, on_go, &a);
  g_assert_nonnull (sbx_rest_put_off (self->rest, &b, on_go, &b));
  sbx_rest_work_cancel (work);
  sbx_rest_set_wanted (self->rest, TRUE);
  run_what_is_due ();
  g_assert_cmpstr (self->done->str, ==, "b");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/turn/rest/quiet", Fixture, NULL, set_up, test_quiet, tear_down);
  g_test_add ("/turn/rest/alone", Fixture, NULL, set_up, test_alone, tear_down);
  g_test_add ("/turn/rest/never-quiet", Fixture, NULL, set_up, test_never_quiet, tear_down);
  g_test_add ("/turn/rest/wanted", Fixture, NULL, set_up, test_wanted, tear_down);
  g_test_add ("/turn/rest/cancelled", Fixture, NULL, set_up, test_cancelled, tear_down);
  return g_test_run ();
}
