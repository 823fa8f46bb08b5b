/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Which channels have prepared sandboxes, which should, and which of those that wait have to go. Pure
 * bookkeeping: items are the caller's pointers and are never looked at, times are microseconds of a clock of
 * the caller's that only goes on.
 *
 * A channel is in use from its last turn for idle_usec. Of the channels in use those used last get
 * per_channel items each, until there are total: so the least recently used goes first. A channel whose items
 * fail is tried again after a growing pause, SBX_PREPARED_TRIES times, then not before its next turn.
 *
 * While turns begin and end, nothing is wanted: making a container takes the processor from those who wait
 * for a reply. SBX_PREPARED_REST_USEC after the last of them, or SBX_PREPARED_MAX_REST_USEC after the first,
 * is soon enough for the next message.
 */
#pragma once

#include <glib.h>

#define SBX_PREPARED_TRIES            5u
#define SBX_PREPARED_FIRST_PAUSE_USEC ((gint64) G_USEC_PER_SEC)
#define SBX_PREPARED_REST_USEC        ((gint64) G_USEC_PER_SEC / 10)
#define SBX_PREPARED_MAX_REST_USEC    ((gint64) G_USEC_PER_SEC)
/* Channels beyond so many are forgotten, the least recently used first. */
#define SBX_PREPARED_MAX_CHANNELS 64u

typedef struct _SbxPreparedPool SbxPreparedPool;

SbxPreparedPool *sbx_prepared_pool_new (guint total, guint per_channel, gint64 idle_usec);
/* Items still in it are forgotten. NULL is fine. */
void sbx_prepared_pool_free (SbxPreparedPool *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPreparedPool, sbx_prepared_pool_free)

/* total 0: nothing is ever wanted. */
void sbx_prepared_pool_set_bounds (SbxPreparedPool *self, guint total, guint per_channel, gint64 idle_usec);

/* A turn of the channel has begun: nothing is made for it until it is used again, at the turn's end. */
void sbx_prepared_pool_begun (SbxPreparedPool *self, const char *name, gint64 now_usec);
/* The channel had a turn just now; what failed before is forgiven. */
void sbx_prepared_pool_used (SbxPreparedPool *self, const char *name, gint64 now_usec);
/* The channel is not in use any more. Its items stay until they are taken out as surplus. */
void sbx_prepared_pool_forget (SbxPreparedPool *self, const char *name);

/* An item is being made for the channel, which was wanted. */
void sbx_prepared_pool_add (SbxPreparedPool *self, const char *name, gpointer item);
/* Takes an item out: it is used, thrown away or failed. FALSE when it is not in. */
gboolean sbx_prepared_pool_remove (SbxPreparedPool *self, gpointer item);
/* The channel's oldest item, NULL where there is none. It stays in. */
gpointer sbx_prepared_pool_oldest (SbxPreparedPool *self, const char *name);
/* An item of the channel failed, or died while it waited. */
void sbx_prepared_pool_failed (SbxPreparedPool *self, const char *name, gint64 now_usec);

/* An item that has to go, with why: its channel is "idle", "not-in-use" (forgotten), or the places are for
 * "others-in-use", which were used later. NULL where none has to. Take it out before asking again. */
gpointer sbx_prepared_pool_surplus (SbxPreparedPool *self, gint64 now_usec, const char **ret_why);
/* A channel that should get one more item now; NULL where none should. Borrowed until the next change. */
const char *sbx_prepared_pool_wanted (SbxPreparedPool *self, gint64 now_usec);
/* When to ask again, for time alone; -1 where time alone changes nothing. */
gint64 sbx_prepared_pool_next_usec (SbxPreparedPool *self, gint64 now_usec);
