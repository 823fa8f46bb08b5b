/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What comes behind a reply waits while others wait for theirs: removing a container takes the processors
 * from turns that need them for a few milliseconds more.
 *
 * Where another turn has begun or ended within quiet_usec, it waits until none has for so long (those that
 * are left wait for a model then, not for us), and max_usec at the most. Not at all while any turn waits,
 * since it may be for what it would free. Turns are the caller's pointers and are never looked at: one at a
 * freed one's address is taken for that one, and its removal at worst not put off.
 */
#pragma once

#include <glib.h>

#define SBX_REST_QUIET_USEC ((gint64) 50 * 1000)
#define SBX_REST_MAX_USEC   ((gint64) 500 * 1000)

typedef struct _SbxRest SbxRest;
typedef struct _SbxRestWork SbxRestWork;

SbxRest *sbx_rest_new (gint64 quiet_usec, gint64 max_usec);
/* Nothing may wait any more. NULL is fine. */
void sbx_rest_free (SbxRest *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxRest, sbx_rest_free)

/* A turn has begun, or has its outcome, just now. */
void sbx_rest_turn (SbxRest *self, gconstpointer turn);

/* Somebody waits, maybe for what the work would free: nothing is put off while that is so. */
void sbx_rest_set_wanted (SbxRest *self, gboolean wanted);

/* Work of that turn: calls go from the loop, once, when its time has come. NULL, and no call, where that is
 * now. The work is gone when go is called. */
SbxRestWork *
sbx_rest_put_off (SbxRest *self, gconstpointer turn, void (*go) (gpointer user_data), gpointer user_data);
/* Before it was called. */
void sbx_rest_work_cancel (SbxRestWork *work);
