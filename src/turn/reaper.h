/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What could not be removed at a turn's end: tried again with a growing pause until it is gone, blocking
 * nobody.
 *
 * The first failure is in the journal with the turn's fields, and so is the success that follows it. At most
 * SBX_REAPER_MAX are kept, in case Docker never removes anything; what comes beyond is only journalled, and
 * left to the next sweep (sweep.h), which finds containers by their label and directories by their name.
 */
#pragma once

#include "container/engine.h"

#define SBX_REAPER_MAX 256u

typedef struct _SbxReaper SbxReaper;

/* changed is called when the number of leftovers changed; may be NULL. */
SbxReaper *sbx_reaper_new (SbxEngine *engine, void (*changed) (gpointer user_data), gpointer user_data);
/* Gives up what is left, to the next start's sweep. NULL is fine. */
void sbx_reaper_free (SbxReaper *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxReaper, sbx_reaper_free)

/* Hands over a container (by id or name) and a run directory; either may be NULL. why: of the journal's
 * entry. */
void sbx_reaper_add (SbxReaper *self, const char *turn, const char *container, const char *run_dir,
                     const char *why);

/* A container whose creation was asked for and never answered: dockerd may make it yet, behind its removal.
 * Looked for some more times, each with a longer pause; neither in sbx_reaper_n_left() nor told. */
void sbx_reaper_suspect (SbxReaper *self, const char *turn, const char *container);

guint sbx_reaper_n_left (SbxReaper *self);
