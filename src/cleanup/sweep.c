/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "cleanup/sweep.h"

guint64
sbx_sweep_time_left (const SbxSweep *self, guint64 limit_usec)
{
  gint64 left = self->due_usec - g_get_monotonic_time ();

  return left <= 0 ? 0 : MIN ((guint64) left, limit_usec);
}

void
sbx_sweep_tell (SbxSweep *self, const char *kind, const char *name, const char *error)
{
  self->n_found++;
  if (error == NULL)
    {
      g_print ("%s %s %s\n", self->dry_run ? "would remove" : "removed", kind, name);
      return;
    }
  self->n_failed++;
  g_printerr ("%s %s is still there: %s\n", kind, name, error);
}

void
sbx_sweep_fail (SbxSweep *self, const char *what, const char *error)
{
  self->n_failed++;
  g_printerr ("%s: %s\n", what, error);
}
