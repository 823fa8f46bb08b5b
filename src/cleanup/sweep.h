/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What one run of sandbox-cleanup shares: its deadline, whether it only looks, and what it has found so far.
 * Each part tells of each thing by sbx_sweep_tell(): a line on standard output, or on standard error where it
 * stays; under systemd both are the journal.
 */
#pragma once

#include <glib.h>

typedef struct {
  gboolean dry_run;
  gint64 due_usec; /* CLOCK_MONOTONIC: nothing new is begun after it */
  guint n_found;
  guint n_failed;
} SbxSweep;

/* What is left of the time, at most limit_usec; 0 when it is over. */
guint64 sbx_sweep_time_left (const SbxSweep *self, guint64 limit_usec);

/* Counts a thing that was found; error is why it could not be removed, or NULL. kind is a word such as
 * "container". */
void sbx_sweep_tell (SbxSweep *self, const char *kind, const char *name, const char *error);

/* Why something stays that was not even tried. */
#define SBX_SWEEP_NO_TIME "no time was left for it"

/* Counts something that could not even be looked for. */
void sbx_sweep_fail (SbxSweep *self, const char *what, const char *error);
