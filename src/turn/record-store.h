/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What became of each turn, kept for whoever lost the answer, over a restart of the daemon too.
 *
 * A directory with one file a turn, whose name is the turn's id and how far it came: ID.queued, ID.started,
 * ID.done. A turn that waits and is to survive a restart has its whole request in the file, any other only
 * what its outcome needs. Nothing that was started is ever started again: a daemon that finds ID.started
 * records `failed: restarted`.
 *
 * Outcomes are kept for SBX_RECORD_KEEP_SEC, at most SBX_RECORD_MAX of them. A reply's text stays in the file
 * until it is asked for. An outcome that cannot be written is kept in memory, its text up to a bound, and is
 * tried again.
 */
#pragma once

#include "turn/outcome.h"
#include "turn/state-writer.h"
#include "turn/turn-request.h"

#define SBX_RECORD_KEEP_SEC 3600
#define SBX_RECORD_MAX      1000u

typedef struct {
  char *turn;
  char *channel;
  char *message_id; /* NULL: none */
  guint32 uid;
  gint64 accepted_usec; /* real time, as below */
  gint64 finished_usec;
  SbxOutcomeKind kind;
  SbxFailure failure;
  gboolean ok;
} SbxRecord;

/* A turn that an earlier daemon took and did not finish. */
typedef struct {
  char *turn;
  gint64 accepted_usec;
  gboolean started;
  gboolean whole; /* request has speaker and text */
  SbxTurnRequest request;
  char *owned[6];
} SbxUnfinished;

typedef struct _SbxRecordStore SbxRecordStore;

/* NULL with error set (SBX_STATE_DIR_ERROR). A file in it that cannot be read is removed, with a journal
 * entry. Blocking. */
SbxRecordStore *sbx_record_store_open (const char *path, GError **error);
/* Blocks until all is on the disk. NULL is fine. */
void sbx_record_store_free (SbxRecordStore *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxRecordStore, sbx_record_store_free)

/* gone: a record was dropped, for its age, for its number or with its channel. NULL: nobody is told. */
void sbx_record_store_set_gone (SbxRecordStore *self, void (*gone) (const char *turn, gpointer user_data),
                                gpointer user_data);

/* What an earlier daemon left, in order of acceptance: an array of SbxUnfinished, given once. Each must be
 * finished, or accepted again under its id. */
GPtrArray *sbx_record_store_take_unfinished (SbxRecordStore *self);

/* Writes a turn down before it is taken; it outlives this process from here on. FALSE with error set. */
gboolean sbx_record_store_accept (SbxRecordStore *self, const char *turn, const SbxTurnRequest *request,
                                  gint64 accepted_usec, GError **error);
/* Calls done from the loop when all that was written so far is on the disk, for those who are told that a
 * turn was taken. */
void sbx_record_store_when_kept (SbxRecordStore *self, SbxStateDone done, gpointer user_data);
/* It will never be started again. FALSE with error set where that cannot be written: do not start it. */
gboolean sbx_record_store_start (SbxRecordStore *self, const char *turn, GError **error);
/* Its one outcome. outcome is borrowed. */
void sbx_record_store_finish (SbxRecordStore *self, const char *turn, const SbxTurnRequest *request,
                              gint64 accepted_usec, const SbxOutcome *outcome);

/* NULL where there is no outcome of it (any more). */
const SbxRecord *sbx_record_store_find (SbxRecordStore *self, const char *turn);
const SbxRecord *sbx_record_store_find_message (SbxRecordStore *self, guint32 uid, const char *channel,
                                                const char *message_id);
/* The reply's text, NULL where there is none or it was lost. Free with g_free(). */
char *sbx_record_store_text (SbxRecordStore *self, const SbxRecord *record);

/* All records, the oldest first; borrowed. */
GPtrArray *sbx_record_store_list (SbxRecordStore *self);

/* Removes all that is known of the channel's turns. */
void sbx_record_store_purge (SbxRecordStore *self, const char *channel);

/* What a channel's message-id stands for: one key for each uid, channel and id. Free with g_free(). */
char *sbx_record_message_key (guint32 uid, const char *channel, const char *message_id);
