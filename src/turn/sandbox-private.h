/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the files of a sandbox share: sandbox.c (its life), sandbox-make.c, sandbox-watch.c (while it
 * waits), sandbox-end.c. */
#pragma once

#include "base/deadline.h"
#include "base/fd.h"
#include "turn/broker-session.h"
#include "turn/sandbox.h"
#include "turn/scope-events.h"
#include "turn/workspace.h"

typedef enum {
  SANDBOX_NEW,
  SANDBOX_MAKING,
  SANDBOX_READY,
  SANDBOX_BEGUN,
  SANDBOX_ENDING,
  SANDBOX_GONE,
} SandboxState;

struct _SbxSandbox {
  grefcount refs; /* the owner's, its own until it is gone, and one for each call under way */
  SbxTurnContext *context;
  const SbxSandboxEvents *events;
  gpointer user_data;
  SandboxState state;

  char *id;
  char *channel;
  char *channel_hash;
  guint64 lifetime_usec;
  GCancellable *cancellable;      /* of all before the end but the container's creation */
  GCancellable *exit_cancellable; /* of the question for its exit */

  char *workspace;
  SbxWorkspaceId workspace_id;
  char *run_dir;
  SbxFd listener;
  SbxBrokerProcess *process;
  SbxBrokerSession *session;
  SbxFd stream_fd;
  char *container;    /* its name; set when its creation has been asked for */
  char *container_id; /* Docker's, when it has been created */
  SbxScopeEvents *scope_events;
  char *image_id;
  gboolean own_image;
  gboolean keeps_input; /* its worker's input ends behind the reply, and the worker with it */
  gboolean create_pending;
  gboolean create_unanswered;
  gboolean container_started;
  gboolean broker_ready;
  gboolean exited;

  gboolean watched;
  SbxFd worker_fd; /* of its process; -1: unknown */
  GSource *stream_source;
  GSource *worker_source;

  gboolean input_ended; /* its worker is about to exit */
  GSource *end_source;
  SbxDeadline *kill_deadline;
  SbxDeadline *exit_deadline;
  gboolean broker_gone;
};

/* Whether its owner still waits for anything but the end. */
gboolean sbx_sandbox_is_open (const SbxSandbox *self);
void sbx_sandbox_fail (SbxSandbox *self, SbxFailure failure, const GError *error);
void sbx_sandbox_exited (SbxSandbox *self, gint64 exit_status);
/* Its worker has ended, or cannot be asked for any more, in SANDBOX_ENDING. */
void sbx_sandbox_exited_late (SbxSandbox *self);
/* The broker is ready or the container started: tells when both are. */
void sbx_sandbox_try_ready (SbxSandbox *self);
/* The container's creation, for which the end has waited, is over. */
void sbx_sandbox_creation_over (SbxSandbox *self);
/* From the container's start to the turn's: the end of its process or of its stream is an exit. */
void sbx_sandbox_watch_begin (SbxSandbox *self);
void sbx_sandbox_watch_end (SbxSandbox *self);
/* Whether one of them has ended by now. */
gboolean sbx_sandbox_watch_sees_end (SbxSandbox *self);
/* Nothing is left. */
void sbx_sandbox_gone (SbxSandbox *self);

extern const SbxBrokerSessionEvents sbx_sandbox_session_events;
