/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The object on the bus, org.roundtable.Sandbox1.Manager at /org/roundtable/Sandbox1, and those of channels
 * and turns below it (dbus/org.roundtable.Sandbox1.xml); on the system bus and on the private socket.
 *
 * A thin layer: it checks arguments, asks sbx_guard_check_async(), and hands over to the turns and the
 * channel store.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "daemon/daemon.h"

typedef struct _SbxManager SbxManager;

/* claimed: what came of sbx_manager_claim_name(). */
SbxManager *
sbx_manager_new (SbxDaemon *daemon, void (*claimed) (gboolean fine, const char *why, gpointer user_data),
                 gpointer user_data);
void sbx_manager_free (SbxManager *self);

/* listener: of the private socket, now the manager's. At most once. */
void sbx_manager_listen (SbxManager *self, int listener);

/* Puts the object on a fresh bus. FALSE with error set. */
gboolean sbx_manager_attach (SbxManager *self, sd_bus *bus, GError **error);
/* The bus is gone: cancels the turns that its callers waited for. */
void sbx_manager_detach (SbxManager *self);

/* Asks for the name, from when on callers find us. */
void sbx_manager_claim_name (SbxManager *self);

/* Told on the buses: turns that came, changed, or are known no more; channels that came onto the list or
 * left. */
void sbx_manager_turn_added (SbxManager *self, SbxTurn *turn);
void sbx_manager_turn_changed (SbxManager *self, SbxTurn *turn);
void sbx_manager_turn_gone (SbxManager *self, const char *id);
void sbx_manager_mode_changed (SbxManager *self, const char *channel, gboolean on);

/* Properties changed; told in one signal from the loop. */
void sbx_manager_counts_changed (SbxManager *self);
