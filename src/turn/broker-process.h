/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A turn's sandbox-broker: spawned, gated into its own transient scope, killed at the end.
 *
 * The child waits for CONFIG on its control socket and does nothing before it. It gets CONFIG only when the
 * scope stands and the child's membership has been checked, so no broker ever runs outside its scope (fail
 * closed).
 */
#pragma once

#include <gio/gio.h>

#include "bus/systemd-units.h"

/* Who makes scopes: systemd, or a fake in tests. */
typedef struct {
  void (*start_async) (gpointer self, const SbxScopeSpec *spec, GCancellable *cancellable,
                       GAsyncReadyCallback callback, gpointer user_data);
  gboolean (*start_finish) (GAsyncResult *result, GError **error);
  /* SIGKILL to all processes of a unit, or its end; nobody waits for it. May be NULL. */
  void (*kill) (gpointer self, const char *unit);
  void (*stop) (gpointer self, const char *unit);
} SbxScopeMaker;

/* The real one; its self is a SbxUnits **, which holds NULL while there is no bus. */
extern const SbxScopeMaker sbx_scope_maker_systemd;

typedef struct _SbxBrokerProcess SbxBrokerProcess;

/* Spawns program with listener, which stays the caller's, and one end of a socket pair, whose other end is
 * *ret_control (the caller's). NULL with error set. */
SbxBrokerProcess *
sbx_broker_process_spawn (const char *program, int listener, int *ret_control, GError **error);

/* Kills what still runs, and reaps it from the main loop; no callback follows. NULL is fine. */
void sbx_broker_process_free (SbxBrokerProcess *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBrokerProcess, sbx_broker_process_free)

/* Puts the child into a scope for the turn, living at most runtime_max_usec. A name that is taken is tried
 * again under another, a refusal once more. Cancelled, it gives up the scope that systemd is making, as soon
 * as it is there. */
void sbx_broker_process_gate_async (SbxBrokerProcess *self, const SbxScopeMaker *maker, gpointer maker_self,
                                    const char *turn, guint64 runtime_max_usec, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data);
gboolean sbx_broker_process_gate_finish (GAsyncResult *result, GError **error);

/* Whether it still runs at this moment. */
gboolean sbx_broker_process_is_alive (SbxBrokerProcess *self);

/* SIGKILL, at once. */
void sbx_broker_process_kill (SbxBrokerProcess *self);

/* Calls gone when the process is reaped; from the main loop, also where it is already. One at a time; NULL
 * takes it back. */
void sbx_broker_process_watch (SbxBrokerProcess *self, void (*gone) (gpointer user_data), gpointer user_data);
