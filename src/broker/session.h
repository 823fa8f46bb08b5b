/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One turn as a broker lives it, driven by sandboxd over the control socket (wire/control.h):
 *
 *   CONFIG  the process locks itself down, says READY, and only then accepts
 *   START   the grant and the worker's stream come; calls are served
 *
 * With the worker's outcome the turn is over: later calls are refused, and the process goes on until sandboxd
 * closes the socket.
 *
 * A frame that is not due now ends the session.
 */
#pragma once

#include <glib.h>

typedef struct _SbxSession SbxSession;

typedef struct {
  /* Locks the process down. FALSE: it could not, and the session is over. */
  gboolean (*lock) (gpointer user_data);
  /* sandboxd is gone or broke the rules: end the process. The last event; may not free the session. */
  void (*over) (gboolean fault, gpointer user_data);
} SbxSessionEvents;

/* Takes both descriptors. events must be static. */
SbxSession *
sbx_session_new (int control_fd, int listen_fd, const SbxSessionEvents *events, gpointer user_data);
void sbx_session_free (SbxSession *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSession, sbx_session_free)
