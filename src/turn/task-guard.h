/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What ends a waiting GTask early: its deadline or its cancellable, whichever comes first, told once from the
 * loop. */
#pragma once

#include <gio/gio.h>

#include "wire/failure.h"

/* why: SBX_FAILURE_DEADLINE or SBX_FAILURE_CANCELLED. The guard has disarmed itself. */
typedef void (*SbxTaskGuardFunc) (gpointer user_data, SbxFailure why);

typedef struct {
  GSource *timer;
  GSource *cancelled;
  SbxTaskGuardFunc func;
  gpointer user_data;
} SbxTaskGuard;

/* self must stay where it is until sbx_task_guard_disarm(). cancellable may be NULL. */
void sbx_task_guard_arm (SbxTaskGuard *self, guint deadline_msec, GCancellable *cancellable,
                         SbxTaskGuardFunc func, gpointer user_data);
/* Safe to repeat. */
void sbx_task_guard_disarm (SbxTaskGuard *self);
