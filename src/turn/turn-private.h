/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the files of one turn share: turn.c (states), turn-start.c, turn-watch.c (what comes while it runs),
 * turn-end.c. */
#pragma once

#include "base/deadline.h"
#include "base/fd.h"
#include "turn/broker-session.h"
#include "turn/scope-events.h"
#include "turn/turn.h"

struct _SbxTurn {
  grefcount refs; /* the registry's, and one for each call under way */
  SbxTurnContext *context;
  const SbxTurnEvents *events;
  gpointer user_data;
  SbxTurnState state;
  SbxOutcome outcome;

  char *id;
  char *channel;
  char *channel_hash;
  SbxTurnRequest request; /* of the texts below */
  char *speaker_id;
  char *speaker_name;
  char *principal;
  char *text;
  char *message_id;
  gint64 accepted_usec; /* real time */
  gint64 state_usec;    /* when its state began: monotonic, and real time */
  gint64 state_since_usec;
  SbxTurnUsage usage;
  guint64 deadline_usec; /* how long it may take */
  guint64 generation;    /* of resets, when it was admitted; 0: none asked for */
  SbxDeadline *deadline;
  GCancellable *cancellable; /* of everything before the outcome but the container's creation */

  char *workspace;
  char *run_dir;
  SbxFd listener;
  SbxBrokerProcess *process;
  SbxBrokerSession *session;
  SbxFd grant_fd;
  SbxFd stream_fd;
  char *container;    /* its name; set when its creation has been asked for */
  char *container_id; /* Docker's, when it has been created */
  SbxScopeEvents *scope_events;
  gboolean own_image;
  gboolean create_pending;
  gboolean create_unanswered;
  gboolean container_started;
  gboolean broker_ready;

  gboolean exited;
  gint64 exit_status; /* -1: unknown */
  gboolean has_reply;
  SbxControlReply reply;
  gboolean asking_why;
  SbxDeadline *patience;    /* for the exit status behind a reply, or a reply behind the exit */
  SbxFailure model_failure; /* of the last model call; NONE when it went well */

  GSource *clean_source;
  SbxDeadline *kill_deadline;
  gboolean broker_gone;
};

/* The first word on how the turn ends. */
void sbx_turn_settle (SbxTurn *self, SbxOutcomeKind kind, SbxFailure failure);
/* A failure with words for the journal. error may be NULL. */
void sbx_turn_fail (SbxTurn *self, SbxFailure failure, const GError *error);
void sbx_turn_step (SbxTurn *self, SbxTurnEvent event);
/* Whether what was asked for before the outcome still matters. */
gboolean sbx_turn_is_open (const SbxTurn *self);
guint sbx_turn_left_msec (const SbxTurn *self);

void sbx_turn_prepare (SbxTurn *self);
void sbx_turn_clean (SbxTurn *self);

extern const SbxBrokerSessionEvents sbx_turn_session_events;
/* What a reply says beside its text, to the journal: files set aside, a history made shorter. */
void sbx_turn_log_notes (const SbxTurn *self);
/* The worker runs: wait for its end. */
void sbx_turn_watch_exit (SbxTurn *self);
/* The broker is ready or the container started: begins the turn when both are. */
void sbx_turn_try_begin (SbxTurn *self);
