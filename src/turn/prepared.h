/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Prepared turns: for channels in use, the next turn's sandbox is made ahead (turn/prepared-pool.h says for
 * which).
 *
 * Each is used once, for its own channel, or thrown away: when its channel is not in use any more, when the
 * configuration or the image is another, when something of it dies. Nothing of a guest is in one that waits.
 * Whoever takes one must be ready for it to fail, and gives it back to be thrown away.
 */
#pragma once

#include "turn/sandbox.h"

typedef struct _SbxPrepared SbxPrepared;

/* context must outlive it. changed: the number of those that wait is another; may be NULL. Prepares nothing
 * before sbx_prepared_used(). */
SbxPrepared *
sbx_prepared_new (SbxTurnContext *context, void (*changed) (gpointer user_data), gpointer user_data);
/* Stopped, or at the very end. NULL is fine. */
void sbx_prepared_free (SbxPrepared *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPrepared, sbx_prepared_free)

/* The channel's turn has its outcome: the next one is prepared. */
void sbx_prepared_used (SbxPrepared *self, const char *channel);
/* The channel is off, or its workspace is about to go: throws away what waits for it. */
void sbx_prepared_drop (SbxPrepared *self, const char *channel);
/* The configuration is another: throws all away and makes them again. */
void sbx_prepared_reconfigure (SbxPrepared *self);
/* containerd has ended, or is started again: with some versions it does not know a container of before any
 * more, so that the end of a worker's input never comes. Throws all away and makes them again. */
void sbx_prepared_containerd_changed (SbxPrepared *self);
/* Some image is another (SbxImageWatch): those of an old one are thrown away. */
void sbx_prepared_images_changed (SbxPrepared *self);

/* A turn of the channel begins. Gives a sandbox for it, which is the caller's from here on, with all its
 * events; it may not be ready yet (*ret_ready FALSE). NULL where none is fit. */
SbxSandbox *sbx_prepared_take (SbxPrepared *self, const char *channel, const SbxSandboxEvents *events,
                               gpointer user_data, gboolean *ret_ready);
/* Takes the caller's reference of one that turned out to be no good, and sees to its end. */
void sbx_prepared_give_back (SbxPrepared *self, SbxSandbox *sandbox);

/* Prepares no more, throws all away, and calls stopped from the main loop when nothing of any is left. */
void sbx_prepared_stop (SbxPrepared *self, void (*stopped) (gpointer user_data), gpointer user_data);

/* Those that wait for their turn now. */
guint sbx_prepared_n_waiting (SbxPrepared *self);
