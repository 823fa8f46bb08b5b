/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the files of one turn share: turn.c (states and the end), turn-start.c, turn-watch.c (what comes of
 * the sandbox), turn-notes.c. */
#pragma once

#include "base/deadline.h"
#include "base/fd.h"
#include "turn/sandbox.h"
#include "turn/turn.h"

struct _SbxTurn {
  grefcount refs; /* the registry's, and one for each call under way */
  SbxTurnContext *context;
  const SbxTurnEvents *events;
  gpointer user_data;
  SbxTurnState state;
  SbxOutcome outcome;

  char *id;
  SbxTurnRequest request; /* its own copy */
  gint64 accepted_usec;   /* real time */
  gint64 state_usec;      /* when its state began: monotonic, and real time */
  gint64 state_since_usec;
  SbxTurnUsage usage;
  guint64 deadline_usec; /* how long it may take */
  guint64 generation;    /* of resets, when it was admitted; 0: none asked for */
  SbxDeadline *deadline;
  GCancellable *cancellable; /* of its own calls before the outcome */

  SbxSandbox *sandbox;
  gboolean made_ahead; /* the sandbox came from those that were prepared: there may be another try */
  gboolean prepared;   /* it was ready when it was taken */
  gboolean tried_again;
  gboolean sandbox_ready;
  gboolean announcing;
  SbxFd grant_fd;

  guint n_lost; /* sbx_image_watch_n_lost() when it was admitted */
  gboolean exited;
  gint64 exit_status; /* -1: unknown */
  gboolean has_reply;
  SbxControlReply reply;
  gboolean asking_why;
  SbxDeadline *patience;    /* for the exit status behind a reply, or a reply behind the exit */
  SbxRestWork *cleaning;    /* its removal, which waits for others' replies */
  SbxFailure model_failure; /* of the last model call; NONE when it went well */
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
/* The sandbox is ready: asks for the right to call out, then begins. */
void sbx_turn_go_on (SbxTurn *self);
/* A sandbox that was made ahead is no good: makes another, once. FALSE where there is no other try. */
gboolean sbx_turn_fall_back (SbxTurn *self);
/* Docker has created the container and did not start it: makes another sandbox, once. FALSE where that is not
 * what happened, or there is no other try. */
gboolean sbx_turn_try_again (SbxTurn *self, SbxFailure failure, const GError *error);

extern const SbxSandboxEvents sbx_turn_sandbox_events;
/* What a reply says beside its text, to the journal: files set aside, a history made shorter. */
void sbx_turn_log_notes (const SbxTurn *self);
