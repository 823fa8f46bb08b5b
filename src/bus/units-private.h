/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the files about systemd's manager share: an operation that a cancel, its deadline or a lost bus can
 * end. */
#pragma once

#include "base/task-guard.h"
#include "bus/systemd-units.h"

#define SBX_SYSTEMD_NAME    "org.freedesktop.systemd1"
#define SBX_SYSTEMD_PATH    "/org/freedesktop/systemd1"
#define SBX_SYSTEMD_MANAGER "org.freedesktop.systemd1.Manager"

typedef struct _SbxUnitsOp SbxUnitsOp;

/* Takes the manager's answer, which is no error. Ends the operation, or makes its next call. */
typedef void (*SbxUnitsAnswered) (SbxUnitsOp *op, sd_bus_message *answer);

struct _SbxUnitsOp {
  SbxUnits *units; /* NULL when it was freed */
  GTask *task;
  GCancellable *inner; /* of the call that runs */
  SbxTaskGuard guard;
  GSource *pending; /* a step that is due */
  gboolean calling;
  GError *stopped; /* why the operation has to end */
  SbxUnitsAnswered answered;
  void (*unanswered) (SbxUnitsOp *op); /* the manager left the bus with the call; NULL: the operation fails */
  /* starting a scope */
  char *unit;
  pid_t pid;
  gboolean accepted; /* the call was answered */
  char *job_result;  /* NULL: the job runs */
  gboolean looking;  /* whether the process is in its place, though nobody said that the job has ended */
  char *control_group;
};

sd_bus *sbx_units_peek_bus (SbxUnits *self);

/* Begins a call of the manager's method. Returns a negative errno where it cannot. */
int sbx_units_call_new (SbxUnits *self, const char *method, sd_bus_message **ret_call);

/* Where the processes' control groups are read: "/proc", but in tests. */
const char *sbx_units_proc (SbxUnits *self);
void sbx_units_set_proc (SbxUnits *self, const char *proc);

SbxUnitsOp *sbx_units_op_new (SbxUnits *self, guint timeout_ms, GCancellable *cancellable,
                              GAsyncReadyCallback callback, gpointer user_data);
/* Sends message; answered is called with an answer that is no error, else the operation fails. */
void sbx_units_op_call (SbxUnitsOp *op, sd_bus_message *message, SbxUnitsAnswered answered);
/* One of these ends the operation and frees it. */
void sbx_units_op_return (SbxUnitsOp *op, gpointer value, GDestroyNotify destroy);
void sbx_units_op_fail (SbxUnitsOp *op, GError *error);
/* For a negative errno while a message is made or read. */
void sbx_units_op_fail_errno (SbxUnitsOp *op, int r);

/* JobRemoved said that a job of op->unit has ended. */
void sbx_units_op_job_removed (SbxUnitsOp *op, const char *result);
