/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The sockets of an upstream's connections. What comes on one while nothing was asked on it is no answer to
 * whoever asks next, perhaps for another channel: such a connection must not be used again. libcurl 7.88
 * looks only whether the peer has left.
 */
#pragma once

#include <glib.h>

typedef struct _SbxKeptSockets SbxKeptSockets;

SbxKeptSockets *sbx_kept_sockets_new (void);
/* Closes none. NULL is fine. */
void sbx_kept_sockets_free (SbxKeptSockets *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxKeptSockets, sbx_kept_sockets_free)

/* One was opened; one is about to be closed. */
void sbx_kept_sockets_add (SbxKeptSockets *self, int fd);
void sbx_kept_sockets_remove (SbxKeptSockets *self, int fd);

/* Whether something unread, or the end, is on a socket with that port of ours. Two connections to different
 * peers may share a port, so the answer may be of the other one, which costs a new connection. */
gboolean sbx_kept_sockets_have_unread (SbxKeptSockets *self, guint port);
