/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What ends a waiting GTask early: its deadline or its cancellable, whichever comes first, told once, from
 * the loop of the thread-default context. A member of the operation's own data; all zeros is a disarmed one.
 */
#pragma once

#include <gio/gio.h>

/* cancelled: by the cancellable; FALSE: the deadline has passed. The guard has disarmed itself, and may be
 * freed. */
typedef void (*SbxTaskGuardFunc) (gpointer user_data, gboolean cancelled);

typedef struct {
  GSource *timer;
  GSource *cancelled;
  SbxTaskGuardFunc func;
  gpointer user_data;
} SbxTaskGuard;

/* self must stay where it is until sbx_task_guard_disarm(). cancellable may be NULL; one that is cancelled
 * already is told from the loop too, never from in here. */
void sbx_task_guard_arm (SbxTaskGuard *self, guint deadline_msec, GCancellable *cancellable,
                         SbxTaskGuardFunc func, gpointer user_data);
/* func is not called any more. Safe to repeat. */
void sbx_task_guard_disarm (SbxTaskGuard *self);
