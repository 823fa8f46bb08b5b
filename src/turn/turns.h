/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* All turns of the daemon: who waits, who runs, and how many.
 *
 * Told exactly once per accepted turn; a turn leaves the list when nothing of it is left to do.
 */
#pragma once

#include "turn/channel-store.h"
#include "turn/turn.h"

typedef struct _SbxTurns SbxTurns;

/* Called once with a turn's outcome, whose text may be stolen. */
typedef void (*SbxTurnTold) (SbxTurn *turn, SbxOutcome *outcome, gpointer user_data);

/* context and channels must outlive it. changed: counts changed; may be NULL. */
SbxTurns *sbx_turns_new (SbxTurnContext *context, SbxChannelStore *channels,
                         void (*changed) (gpointer user_data), gpointer user_data);
/* Only when none is left, or at the very end. NULL is fine. */
void sbx_turns_free (SbxTurns *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTurns, sbx_turns_free)

/* Accepts a turn (borrowed: it is the registry's until it has left) or gives NULL with error set
 * (SBX_BUS_ERROR). told is called from the main loop, never from here. */
SbxTurn *sbx_turns_submit (SbxTurns *self, const SbxTurnRequest *request, SbxTurnTold told,
                           gpointer user_data, GError **error);

/* NULL where there is none of that id. */
SbxTurn *sbx_turns_find (SbxTurns *self, const char *id);

/* Nobody waits for the outcome any more: told will not be called. */
void sbx_turns_forget (SbxTurns *self, SbxTurn *turn);

/* In order of acceptance; borrowed. */
GPtrArray *sbx_turns_list (SbxTurns *self);

/* Accepts no more, ends all as restarted, and calls stopped from the main loop when the last has left. */
void sbx_turns_stop (SbxTurns *self, void (*stopped) (gpointer user_data), gpointer user_data);

guint sbx_turns_n_running (SbxTurns *self);
guint sbx_turns_n_queued (SbxTurns *self);
guint64 sbx_turns_n_finished (SbxTurns *self);
guint64 sbx_turns_n_failed (SbxTurns *self);
