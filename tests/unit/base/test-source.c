/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/source.h"

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/source/cleared-never-runs", test_cleared_never_runs);
  g_test_add_func ("/base/source/from-its-own-callback", test_from_its_own_callback);
  return g_test_run ();
}
