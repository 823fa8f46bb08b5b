/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The object on the bus: org.roundtable.Sandbox1.Manager at /org/roundtable/Sandbox1
 * (dbus/org.roundtable.Sandbox1.xml).
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

/* Puts the object on a fresh bus. FALSE with error set. */
gboolean sbx_manager_attach (SbxManager *self, sd_bus *bus, GError **error);
/* The bus is gone: cancels the turns that its callers waited for. */
void sbx_manager_detach (SbxManager *self);

/* Asks for the name, from when on callers find us. */
void sbx_manager_claim_name (SbxManager *self);

/* Properties changed; told in one signal from the loop. */
void sbx_manager_counts_changed (SbxManager *self);
