/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Who may run next: one at a time per channel in order, a bounded number over all channels, waiting channels
 * in turn.
 *
 * Pure bookkeeping: items are the caller's pointers and are never looked at. A channel that has waited
 * longest for its next place gets it, however many another channel has queued, so none starves. A change
 * waits in its channel's order like a turn and occupies its channel, but needs no place.
 */
#pragma once

#include <glib.h>

typedef struct _SbxQueue SbxQueue;

/* max_running over all channels; max_waiting in each, the running one not counted. */
SbxQueue *sbx_queue_new (guint max_running, guint max_waiting);
/* NULL is fine. Items still in it are forgotten. */
void sbx_queue_free (SbxQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxQueue, sbx_queue_free)

/* Changes the bounds; what is running or waiting already stays. */
void sbx_queue_set_bounds (SbxQueue *self, guint max_running, guint max_waiting);

/* Puts item at the end of its channel's queue. FALSE when that is full. */
gboolean sbx_queue_add (SbxQueue *self, const char *channel, gpointer item);

/* The same for a change. FALSE when SBX_QUEUE_MAX_CHANGES of the channel wait. */
#define SBX_QUEUE_MAX_CHANGES 16u
gboolean sbx_queue_add_change (SbxQueue *self, const char *channel, gpointer item);

/* Takes a waiting item out. FALSE when it is not waiting. */
gboolean sbx_queue_remove (SbxQueue *self, const char *channel, gpointer item);

/* The item that may run now, or NULL. It occupies its channel, and a turn a place too, until
 * sbx_queue_release(). */
gpointer sbx_queue_next (SbxQueue *self);

/* The channel's running item is done. */
void sbx_queue_release (SbxQueue *self, const char *channel);

guint sbx_queue_n_running (SbxQueue *self);
guint sbx_queue_n_waiting (SbxQueue *self); /* turns only */
