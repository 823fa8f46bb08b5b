/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the probes share: each step is said with the time since the start, the first that fails ends the
 * program, and an asynchronous call is waited for.
 */
#pragma once

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>

static gint64 probe_began;

/* Call it first. */
static inline void
probe_begin (const char *name)
{
  g_set_prgname (name);
  probe_began = g_get_monotonic_time ();
}

static inline void
say (const char *what)
{
  printf ("%6.1f ms  %s\n", (double) (g_get_monotonic_time () - probe_began) / 1000.0, what);
  fflush (stdout);
}

/* error: NULL, or where the reason stands. */
static inline void
need (gboolean holds, GError **error, const char *what)
{
  if (!holds)
    {
      fprintf (stderr, "%s: %s: %s\n", g_get_prgname (), what,
               error != NULL && *error != NULL ? (*error)->message : "not so");
      exit (1);
    }
  say (what);
}

/* Of a call whose user data is a GAsyncResult *, NULL before. */
static inline void
keep (GObject *source, GAsyncResult *result, gpointer user_data)
{
  *(GAsyncResult **) user_data = g_object_ref (result);
}

static inline GAsyncResult *
await (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}
