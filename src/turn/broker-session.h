/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandboxd's end of one broker's control socket, for its one turn.
 *
 * Sends CONFIG, awaits READY, sends START with the two descriptors, serves the broker's tool calls (charged
 * at the egress before, scanned there after; one at a time), collects audit entries, and tells its owner what
 * came of the turn. Nothing that a guest made is read here but lengths, names on the list, and a reply's text
 * that the broker has gated.
 *
 * The broker is not trusted: a frame that is not due (a reply before START, a second reply, a call beside a
 * call) ends the session as if the broker had closed it.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "turn/egress-client.h"
#include "turn/tool-call.h"
#include "wire/control.h"

typedef struct _SbxBrokerSession SbxBrokerSession;

/* No handler may free the session; free it from an idle, or after the last event. */
typedef struct {
  /* The broker has locked itself down and listens. */
  void (*ready) (SbxBrokerSession *session, gpointer user_data);
  /* The one reply; what reply holds may be stolen. No other outcome follows, but `closed` may. */
  void (*replied) (SbxBrokerSession *session, SbxControlReply *reply, gpointer user_data);
  /* Output ended without a reply that counts. */
  void (*no_reply) (SbxBrokerSession *session, SbxFailure failure, gpointer user_data);
  /* A call or a refusal, for the journal. May be NULL. */
  void (*audit) (SbxBrokerSession *session, const SbxControlAudit *entry, gpointer user_data);
  /* The broker is gone or broke the rules. The last event. */
  void (*closed) (SbxBrokerSession *session, const GError *error, gpointer user_data);
} SbxBrokerSessionEvents;

/* control_fd: our end of the socket pair, taken. tools: of SbxToolTarget, a reference is taken; the names
 * that CONFIG offers must be in it. egress must outlive the session; events must be static. Whose turn it
 * will be is not known before sbx_broker_session_start(). */
SbxBrokerSession *sbx_broker_session_new (int control_fd, GPtrArray *tools, SbxEgressClient *egress,
                                          const SbxBrokerSessionEvents *events, gpointer user_data);

/* Cancels a running tool call and closes the socket; no event follows. NULL is fine. */
void sbx_broker_session_free (SbxBrokerSession *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBrokerSession, sbx_broker_session_free)

/* The bus on which bus providers are called; may be NULL, and set again after the bus was lost. Borrowed. */
void sbx_broker_session_set_bus (SbxBrokerSession *self, sd_bus *bus);

/* Once, first: the gate. The broker does nothing before it. */
gboolean
sbx_broker_session_configure (SbxBrokerSession *self, const SbxControlConfig *config, GError **error);

/* Once, after `ready`: the turn begins. identity's texts are copied. The descriptors stay the caller's (they
 * are duplicated into the message). */
gboolean sbx_broker_session_start (SbxBrokerSession *self, const SbxToolIdentity *identity,
                                   guint32 deadline_msec, int grant_fd, int stream_fd, GError **error);
