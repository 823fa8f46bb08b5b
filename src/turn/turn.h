/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One turn, from the moment it was accepted until nothing is left of it.
 *
 * A turn moves only by the table of turn-state.h. It gets a sandbox (turn/sandbox.h) and the right to call
 * out, and gives the sandbox its words. Its outcome is recorded in the journal and told once, as soon as it
 * is known; removing goes on behind it: the grant is shut down, then the sandbox ends. What cannot be removed
 * goes to the reaper, and the turn is finished all the same.
 */
#pragma once

#include "turn/outcome.h"
#include "turn/turn-context.h"
#include "turn/turn-request.h"
#include "turn/turn-state.h"
#include "turn/usage.h"

/* SbxToolTargets out of what tools.d says. */
GPtrArray *sbx_turn_tools_new (GPtrArray *tools);

typedef struct _SbxTurn SbxTurn;

typedef struct {
  /* The one outcome; what it holds may be stolen. */
  void (*told) (SbxTurn *turn, SbxOutcome *outcome, gpointer user_data);
  /* State or place changed. May be NULL. */
  void (*changed) (SbxTurn *turn, gpointer user_data);
  /* Nothing of it is left to do: its place is free. The last event. */
  void (*left) (SbxTurn *turn, gpointer user_data);
} SbxTurnEvents;

/* A fresh id: 16 hex digits. Free with g_free(). */
char *sbx_turn_make_id (void);

/* Queued. request is copied. accepted_usec: g_get_real_time(). */
SbxTurn *sbx_turn_new (SbxTurnContext *context, const char *id, const SbxTurnRequest *request,
                       gint64 accepted_usec, const SbxTurnEvents *events, gpointer user_data);
SbxTurn *sbx_turn_ref (SbxTurn *self);
void sbx_turn_unref (SbxTurn *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTurn, sbx_turn_unref)

/* Its place has come. */
void sbx_turn_admit (SbxTurn *self);

/* Ends it with this reason (_CANCELLED, _RESTARTED, _MODE_OFF, …), in any state; nothing when an outcome is
 * known already. error: words for the journal; may be NULL. */
void sbx_turn_stop (SbxTurn *self, SbxFailure failure);
void sbx_turn_stop_with (SbxTurn *self, SbxFailure failure, const GError *error);

/* Its worker must not be there any more, whatever it may still do behind its reply: it is killed, and the
 * removal is not put off. Nothing in other states than _FINISHING. */
void sbx_turn_hurry (SbxTurn *self);

/* It has its outcome, and its removal waits for nothing but others' replies. */
gboolean sbx_turn_rests (const SbxTurn *self);

/* Makes it go on where it stands still for longer than it ever should: in work SBX_TURN_LATE_USEC after its
 * deadline, or for SBX_TURN_STUCK_USEC in its removal. now_usec: g_get_monotonic_time(). */
#define SBX_TURN_LATE_USEC  (30 * (gint64) G_USEC_PER_SEC)
#define SBX_TURN_STUCK_USEC (60 * (gint64) G_USEC_PER_SEC)
void sbx_turn_unstick (SbxTurn *self, gint64 now_usec);

const char *sbx_turn_id (const SbxTurn *self);
const char *sbx_turn_channel (const SbxTurn *self);
SbxTurnState sbx_turn_state (const SbxTurn *self);
/* Borrowed, with all its texts. */
const SbxTurnRequest *sbx_turn_request (const SbxTurn *self);
guint32 sbx_turn_uid (const SbxTurn *self);
gint64 sbx_turn_accepted_usec (const SbxTurn *self); /* g_get_real_time() */
/* When its state began, in the same clock. */
gint64 sbx_turn_state_since_usec (const SbxTurn *self);
/* Whose move it is: "docker", "broker", "egress", "worker", or "turn" where its removal waits for others'
 * replies; empty where it is nobody's. See sbx_turns_waits_for(). Static. */
const char *sbx_turn_waits_for (const SbxTurn *self);
/* Of what it took until now, the state that it is in left out. Borrowed. */
const SbxTurnUsage *sbx_turn_usage (const SbxTurn *self);
