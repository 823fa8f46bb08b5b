/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* All turns of the daemon: who waits, who runs, how many, and what came of those that ended.
 *
 * Every turn that is taken gets exactly one outcome, which is recorded (record-store.h) and then told to
 * everybody who waits for it. A turn leaves the list when nothing of it is left to do. Of a message-id, which
 * belongs to a uid and a channel, there is one turn in the time that records are kept.
 *
 * Rights are the caller's matter: sbx_turns_uid_of() says whose a turn is.
 */
#pragma once

#include "turn/channel-store.h"
#include "turn/statistics.h"
#include "turn/turn.h"

/* Turns that wait, over all channels, and those who wait for the outcome of one. */
#define SBX_TURNS_MAX_WAITING 1024u
#define SBX_TURNS_MAX_WAITS   64u

typedef struct _SbxTurns SbxTurns;
typedef struct _SbxTurnWait SbxTurnWait;

/* All may be NULL, and none may call back into the registry but to look. */
typedef struct {
  /* One of the counts changed. */
  void (*counts_changed) (gpointer user_data);
  /* A turn was taken, or came back from before the daemon's restart. */
  void (*turn_added) (SbxTurn *turn, gpointer user_data);
  /* Its state or its outcome changed. */
  void (*turn_changed) (SbxTurn *turn, gpointer user_data);
  /* Nothing is known of it any more: its record has gone too. */
  void (*turn_gone) (const char *id, gpointer user_data);
  /* A channel's mode has changed, and is on the disk. */
  void (*mode_changed) (const char *channel, gboolean on, gpointer user_data);
} SbxTurnsEvents;

/* context and channels must outlive it; so must context->records and context->resets, which are set. events
 * may be NULL. */
SbxTurns *sbx_turns_new (SbxTurnContext *context, SbxChannelStore *channels, const SbxTurnsEvents *events,
                         gpointer user_data);
/* Only when none is left, or at the very end. NULL is fine. */
void sbx_turns_free (SbxTurns *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTurns, sbx_turns_free)

/* Once, at start: takes up what an earlier daemon left. What had been started, or had a caller to tell, ends
 * as restarted; the others wait again. Nothing runs before sbx_turns_go(). */
void sbx_turns_restore (SbxTurns *self);
void sbx_turns_go (SbxTurns *self);

/* The configuration is another: takes over its bounds. */
void sbx_turns_reconfigure (SbxTurns *self);

/* --- taking turns --- */

/* Accepts a turn and gives its id, or finds the one of the same uid, channel and message-id, waiting, running
 * or ended (*ret_known TRUE; may be NULL). NULL with error set (SBX_BUS_ERROR, SBX_FAILURE_ERROR). Free with
 * g_free(). */
char *sbx_turns_submit (SbxTurns *self, const SbxTurnRequest *request, gboolean *ret_known, GError **error);

/* A channel's mode as a change in its queue, asked for by uid: turns that wait already come first. done is
 * called from the loop when it is on the disk, or with why not (SBX_BUS_ERROR); user_data must live until
 * then. FALSE with error set where too many changes wait. */
gboolean sbx_turns_set_mode (SbxTurns *self, const char *channel, gboolean on, guint32 uid, SbxStateDone done,
                             gpointer user_data, GError **error);

/* The channel's next turn begins without history. done is called when that is on the disk, or with why not
 * (SBX_BUS_ERROR), at once where too many channels wait for one; may be NULL. */
void sbx_turns_start_fresh (SbxTurns *self, const char *channel, SbxStateDone done, gpointer user_data);

/* --- outcomes --- */

/* outcome NULL: the daemon is being
 * stopped, and the turn will run after its restart. */
typedef void (*SbxTurnTold) (const char *id, const SbxOutcome *outcome, gpointer user_data);

/* Waits for a turn's outcome; told is called once from the loop, never from here, also for one that has
 * ended. NULL with error set (SBX_BUS_ERROR: no such turn; too many wait). */
SbxTurnWait *
sbx_turns_wait (SbxTurns *self, const char *id, SbxTurnTold told, gpointer user_data, GError **error);
/* Gives up waiting, only before told was called. The turn goes on. NULL is fine. */
void sbx_turn_wait_cancel (SbxTurnWait *self);

/* What is known of a turn that has its outcome; NULL where it has none yet, or none any more. */
const SbxRecord *sbx_turns_record (SbxTurns *self, const char *id);
/* The id of the turn of this message-id; NULL where there is none. Borrowed. */
const char *sbx_turns_find_message (SbxTurns *self, guint32 uid, const char *channel, const char *message_id);
/* Whose turn that is. FALSE where none is known. */
gboolean sbx_turns_uid_of (SbxTurns *self, const char *id, guint32 *ret_uid);
/* In which channel. NULL where none is known. Borrowed. */
const char *sbx_turns_channel_of (SbxTurns *self, const char *id);

/* --- ending turns --- */

/* FALSE where there is no such turn or it has its outcome already. */
gboolean sbx_turns_cancel (SbxTurns *self, const char *id);
/* Which turns of a channel; a NULL or 0 leaves that open. */
typedef struct {
  const char *channel;
  const guint32 *uid;
  const char *speaker_id;
  gint64 before_usec; /* accepted before */
} SbxTurnChoice;

/* What the speaker of that turn asked the same caller in its channel before: cancelled, where it has no
 * outcome yet. How many they were. */
guint sbx_turns_replace (SbxTurns *self, const char *id);
/* Cancels those that wait or run; returns how many they were. */
guint sbx_turns_cancel_chosen (SbxTurns *self, const SbxTurnChoice *choice);

/* Cancels the channel's turns and removes their records and what was asked of its next one. TRUE when none of
 * them holds the workspace any more. */
gboolean sbx_turns_purge (SbxTurns *self, const char *channel);

/* Makes turns go on that should have ended long ago (sbx_turn_unstick()). It is done by itself every
 * SBX_TURNS_LOOK_SEC; for tests. */
#define SBX_TURNS_LOOK_SEC 10u
void sbx_turns_look (SbxTurns *self, gint64 now_usec);

/* Accepts no more and calls stopped from the main loop when the last turn has left. What runs ends as
 * restarted, and so does what waits for a caller; detached turns stay on the disk. */
void sbx_turns_stop (SbxTurns *self, void (*stopped) (gpointer user_data), gpointer user_data);

/* From then on. A turn that is not found may be on the disk for the next daemon. */
gboolean sbx_turns_is_stopping (const SbxTurns *self);

/* --- looking --- */

/* One that is not over; NULL where there is none of that id. */
SbxTurn *sbx_turns_find (SbxTurns *self, const char *id);
/* In order of acceptance; borrowed. */
GPtrArray *sbx_turns_list (SbxTurns *self);
/* As sbx_turn_waits_for(), and of one in the queue "turn" (one before it in its channel) or "place"
 * (MaxTurns= run). */
const char *sbx_turns_waits_for (SbxTurns *self, const SbxTurn *turn);

/* Whether a turn of the channel would have to wait for another. One that only rests behind its reply goes
 * when it is asked for. */
gboolean sbx_turns_would_wait (SbxTurns *self, const char *channel);
guint sbx_turns_n_running (SbxTurns *self);
guint sbx_turns_n_queued (SbxTurns *self);
/* Changes of a channel's mode that wait behind turns. */
guint sbx_turns_n_changes (SbxTurns *self);
guint64 sbx_turns_n_finished (SbxTurns *self);
guint64 sbx_turns_n_failed (SbxTurns *self);
/* Since the start: turns that were asked for and not taken, and sums over those that were. Borrowed. */
guint64 sbx_turns_n_not_taken (SbxTurns *self);
SbxStatistics *sbx_turns_statistics (SbxTurns *self);
