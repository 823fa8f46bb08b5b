/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Removes what an earlier life of the daemon left: brokers' scopes, containers with this installation's label
 * in any state, run directories. What belongs to a live turn is left alone, so it may run at any time. It
 * takes at most SBX_SWEEP_MAX scopes and as many containers at once; where there are more it is not clean,
 * and the next one goes on.
 */
#pragma once

#include "bus/systemd-units.h"
#include "container/engine.h"

#define SBX_SWEEP_MAX 64u

typedef struct _SbxSweep SbxSweep;

/* is_live: whether a turn of that id is the daemon's own now. Strings are copied. */
SbxSweep *sbx_sweep_new (SbxEngine *engine, const char *installation, const char *run_root,
                         gboolean (*is_live) (const char *turn, gpointer user_data), gpointer user_data);
/* Ends a sweep under way; done is not called. NULL is fine. */
void sbx_sweep_free (SbxSweep *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSweep, sbx_sweep_free)

/* Sweeps once. units may be NULL while there is no bus. done is called from the main loop with whether all
 * that was found is gone; where Docker was down it is not. A sweep that is asked for while one runs is that
 * one. */
void sbx_sweep_run (SbxSweep *self, SbxUnits *units, void (*done) (gboolean clean, gpointer user_data),
                    gpointer user_data);
