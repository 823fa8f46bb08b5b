/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The private socket: the same objects as on the system bus, peer to peer, for callers who have no system bus
 * (a bot in a container with the socket mounted).
 *
 * A peer is believed nothing about itself: a sender in its messages means nothing, its rights are those of
 * rights.h. Connections are bounded in all, for each user and for all who may do nothing, and a peer that
 * does not read its answers is cut off.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct _SbxPrivateSocket SbxPrivateSocket;

typedef struct {
  /* Put the objects on it. FALSE: it is closed again. */
  gboolean (*added) (sd_bus *bus, gpointer user_data);
  /* From the loop, never from inside one of its callbacks: forget what it waited for. */
  void (*lost) (sd_bus *bus, gpointer user_data);
} SbxPrivateSocketEvents;

/* listener is a listening Unix socket, now the object's. events must outlive it. */
SbxPrivateSocket *
sbx_private_socket_new (int listener, const SbxPrivateSocketEvents *events, gpointer user_data);
/* Calls lost for each peer. NULL is fine. */
void sbx_private_socket_free (SbxPrivateSocket *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPrivateSocket, sbx_private_socket_free)

/* Calls func with each peer that reads what it is sent: for signals, which a slow reader misses. */
void sbx_private_socket_foreach (SbxPrivateSocket *self, void (*func) (sd_bus *bus, gpointer user_data),
                                 gpointer user_data);
