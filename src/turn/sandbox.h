/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What one turn runs in: run directory, listener, broker in its scope, and a fresh container whose worker
 * waits on standard input. Made for one channel, used for one turn, removed completely.
 *
 * Nothing of a speaker is in it before sbx_sandbox_begin(): the broker answers 410, no grant has been
 * announced, and the worker has read nothing. So it can be made before anybody has spoken.
 *
 * Everything of it bears its id, which is never used again: scope, labels, run directory. Removing goes on by
 * itself after sbx_sandbox_end(): the broker is killed, then the container removed, then the run directory.
 * A worker of our own version is one that stays until its input ends, so that its end is put off with the
 * rest; the input of any other ends behind its turn. What cannot be removed goes to the reaper.
 */
#pragma once

#include "turn/tool-call.h"
#include "turn/turn-context.h"
#include "wire/control.h"

typedef struct _SbxSandbox SbxSandbox;

/* After sbx_sandbox_end() only gone is called, and audit of what came before. */
typedef struct {
  /* The broker has locked itself down and the worker runs: sbx_sandbox_begin() may be called. */
  void (*ready) (gpointer user_data);
  /* It cannot be made, or the worker does not read its turn: good for nothing any more. error may be NULL. */
  void (*failed) (SbxFailure failure, const GError *error, gpointer user_data);
  /* The container has ended, at whatever time. exit_status -1: unknown. */
  void (*exited) (gint64 exit_status, gpointer user_data);
  /* The broker is gone, at whatever time. error may be NULL. */
  void (*closed) (const GError *error, gpointer user_data);
  /* What the broker says, as in broker-session.h. May be NULL where no turn can have begun. */
  void (*replied) (SbxControlReply *reply, gpointer user_data);
  void (*no_reply) (SbxFailure failure, gpointer user_data);
  void (*audit) (const SbxControlAudit *entry, gpointer user_data);
  /* All is removed, or in the reaper's hands. The last event. */
  void (*gone) (gpointer user_data);
} SbxSandboxEvents;

/* lifetime_usec: how long its scope may live, for the case that nobody is left to end it. events must be
 * static. Nothing is made yet. */
SbxSandbox *sbx_sandbox_new (SbxTurnContext *context, const char *id, const char *channel,
                             guint64 lifetime_usec, const SbxSandboxEvents *events, gpointer user_data);
SbxSandbox *sbx_sandbox_ref (SbxSandbox *self);
/* One that was made must have been ended. NULL is fine. */
void sbx_sandbox_unref (SbxSandbox *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSandbox, sbx_sandbox_unref)

/* Makes it: once. failed may be called from here. watched: it may wait for long, so that its worker's end is
 * told as soon as it can be known; before a turn such an end is no outcome of anything. */
void sbx_sandbox_make (SbxSandbox *self, gboolean watched);

/* Who is told from now on. */
void sbx_sandbox_set_owner (SbxSandbox *self, const SbxSandboxEvents *events, gpointer user_data);

/* Whether it is ready and nothing of it has ended or changed its place, as far as can be known without asking
 * another process; of one that is watched. */
gboolean sbx_sandbox_is_fit (SbxSandbox *self);

/* The turn begins: once, when it is ready. The broker gets the grant (duplicated) and the worker's output,
 * the worker gets turn. FALSE with error set when the broker is gone. */
gboolean sbx_sandbox_begin (SbxSandbox *self, const SbxToolIdentity *identity, guint left_msec, int grant_fd,
                            GBytes *turn, GError **error);

/* Removes one that was made, in any state. at_once: systemd kills the worker beside Docker, which may hang;
 * else its worker has replied, and gets the end of its input and a moment to end by itself. Again is nothing,
 * but that at_once takes the rest of that moment away. */
void sbx_sandbox_end (SbxSandbox *self, gboolean at_once);

/* One whose removal does not come to its end: the reaper and the sweep have it from here on, and it is gone.
 * Nothing where it is not being removed. */
void sbx_sandbox_abandon (SbxSandbox *self);

const char *sbx_sandbox_id (const SbxSandbox *self);
/* The container's name, NULL while none was asked for; whether its image is our own; whether Docker has it.
 */
const char *sbx_sandbox_container (const SbxSandbox *self);
gboolean sbx_sandbox_is_own_image (const SbxSandbox *self);
gboolean sbx_sandbox_is_created (const SbxSandbox *self);
/* Docker's id of the image, NULL while it is not known yet. */
const char *sbx_sandbox_image_id (const SbxSandbox *self);
const char *sbx_sandbox_workspace (const SbxSandbox *self);

/* What is awaited while it is made or removed: "docker", "broker" or "worker"; NULL in between. Static. */
const char *sbx_sandbox_waits_for (const SbxSandbox *self);

/* What the kernel did for the container's limits so far. */
gboolean sbx_sandbox_saw_oom (SbxSandbox *self);
gboolean sbx_sandbox_saw_pids (SbxSandbox *self);

/* Whether anything with that id in its name belongs to one that is not gone yet. */
gboolean sbx_sandbox_is_live (const SbxTurnContext *context, const char *id);

/* A failure of Docker's as a turn's. */
SbxFailure sbx_sandbox_engine_failure (const GError *error);
