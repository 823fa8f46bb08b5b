/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the methods share that begin turns or wait for them: run.c (a caller's stay), run-turn.c, deliver.c,
 * wait-turn.c. */
#pragma once

#include "daemon/manager-private.h"
#include "daemon/routing.h"
#include "daemon/turn-options.h"

typedef enum {
  SBX_RUN_TURN,    /* waits, and is answered with ok and text; leaving cancels, without a message-id */
  SBX_RUN_START,   /* is answered with the turn, and sent its outcome */
  SBX_RUN_DELIVER, /* is answered with the verdict: with the outcome, or as _START */
  SBX_RUN_WAIT,    /* waits for a turn that is there already */
} SbxRunKind;

/* A caller, until they are answered and told all, or have left. Owned by the manager's list. */
typedef struct _SbxRun SbxRun;
struct _SbxRun {
  SbxManager *manager;
  SbxRunKind kind;
  sd_bus_message *message;
  char *caller;
  GCancellable *cancellable; /* of the verdict */
  SbxTurnWait *wait;         /* NULL before there is a turn */
  char *id;                  /* of the turn */
  char *channel;
  char *speaker_id;
  char *speaker_name;
  char *text;
  SbxTurnOptions options;
  void (*taken) (SbxRun *self);
  gboolean replaces; /* the turn is new, and has to, when it is on the disk */
  gboolean answered; /* what follows is a signal */
  /* _DELIVER */
  SbxInbound inbound;
  gboolean with_outcome; /* the answer waits for it */
};

/* Not in the list yet: sbx_run_watch() puts it there, or sbx_run_free() ends it. */
SbxRun *sbx_run_new (SbxManager *manager, sd_bus_message *message, SbxRunKind kind);
/* From here on the caller may leave. Negative, with ret_error set, when they have too much under way. */
int sbx_run_watch (SbxRun *self, sd_bus_error *ret_error);
void sbx_run_end (SbxRun *self);
/* Asks whether they may run a turn; allowed gets the run as its data. */
void sbx_run_ask (SbxRun *self, GAsyncReadyCallback allowed);
/* The words of the turn are within their bounds; else sets ret_error. */
int sbx_run_check_words (SbxRun *self, sd_bus_error *ret_error);
/* Takes the turn and waits for it, for a caller that has been allowed. taken: answers one who does not wait
 * for the outcome, as soon as the turn is on the disk; NULL for all others. */
void sbx_run_submit (SbxRun *self, guint32 uid, void (*taken) (SbxRun *self));
/* Waits for the turn self->id. FALSE: answered and ended. */
gboolean sbx_run_await (SbxRun *self);
