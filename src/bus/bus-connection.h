/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A bus connection that comes back: opened, attached to the default main context, reopened after a loss with
 * a bounded back-off (200 ms doubling to 5 s; `systemctl restart dbus` is over in less).
 *
 * A lost sd_bus takes its slots, names and matches with it. So the owner makes them anew in each `ready`, and
 * lets go of everything that hangs on the old bus in `lost`. Both are called from the main loop, never from
 * inside a bus callback, so that they may drop slots.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct _SbxBusConnection SbxBusConnection;

typedef struct {
  /* A fresh bus. FALSE (the owner has logged why): it is closed, and tried again after the back-off. */
  gboolean (*ready) (SbxBusConnection *self, sd_bus *bus, gpointer user_data);
  /* The bus is gone: unref slots, free SbxUnits, forget callers. `ready` follows when it is back. */
  void (*lost) (SbxBusConnection *self, gpointer user_data);
} SbxBusConnectionEvents;

/* address NULL: the system bus. Opens in the next main loop iteration. events must outlive it. */
SbxBusConnection *
sbx_bus_connection_new (const char *address, const SbxBusConnectionEvents *events, gpointer user_data);

/* Closes without calling `lost`. Not from inside a callback of the bus. NULL is fine. */
void sbx_bus_connection_free (SbxBusConnection *self);

/* Borrowed; NULL while there is none. */
sd_bus *sbx_bus_connection_peek (SbxBusConnection *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBusConnection, sbx_bus_connection_free)
