/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the files of the registry share: turns.c (the list and its queue), turns-submit.c (what is taken, and
 * what is not), turns-changes.c (modes and fresh starts), turns-wait.c (who is told). */
#pragma once

#include "turn/queue.h"
#include "turn/speaker-rate.h"
#include "turn/statistics.h"
#include "turn/turns.h"

/* A place in a channel's queue: a turn or, where turn is NULL, a change of the channel's mode. */
typedef struct {
  SbxTurns *turns;
  SbxTurn *turn;
  char *channel;
  gboolean on;
  guint32 uid;
  SbxStateDone done;
  gpointer done_data;
} SbxTurnEntry;

struct _SbxTurns {
  SbxTurnContext *context;
  SbxChannelStore *channels;
  SbxQueue *queue;
  SbxSpeakerRate *rate;
  GPtrArray *entries;   /* of SbxTurnEntry with a turn, in order of acceptance */
  GPtrArray *changes;   /* of those without */
  guint n_fresh;        /* fresh starts on their way to the disk */
  GHashTable *messages; /* message key -> id, of turns without an outcome */
  GPtrArray *waits;     /* of SbxTurnWait, borrowed */
  GSource *pump_source;
  GSource *look_source;
  gint64 last_accepted_usec;
  SbxStatistics *statistics;
  guint64 n_not_taken;
  guint64 n_finished;
  guint64 n_failed;
  gboolean paused;
  gboolean stopping;
  gboolean told_stopped;
  void (*stopped) (gpointer user_data);
  gpointer stopped_data;
  const SbxTurnsEvents *events;
  gpointer user_data;
};

void sbx_turns_pump_soon (SbxTurns *self);
void sbx_turns_counts_changed (SbxTurns *self);

void sbx_turn_entry_free (gpointer data);

/* A change whose time has come. The channel's turns behind it wait until it is on the disk. */
void sbx_turns_change_mode (SbxTurns *self, SbxTurnEntry *entry);
/* Takes out those that wait still; one on its way to the disk is told when it is there. */
void sbx_turns_put_off_changes (SbxTurns *self);

/* Puts a turn into the list and the queue. NULL where that is full. Nothing is written. */
SbxTurnEntry *
sbx_turns_add (SbxTurns *self, const char *id, const SbxTurnRequest *request, gint64 accepted_usec);
/* Takes one that waits out of both again, as if it had never been. */
void sbx_turns_take_out (SbxTurns *self, SbxTurnEntry *entry);

/* Everybody who waits for the turn. */
void sbx_turns_tell (SbxTurns *self, const char *id, const SbxOutcome *outcome);
