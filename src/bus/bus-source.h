/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* An sd_bus connection as a source of a GLib main context.
 *
 * One message a dispatch, so that a busy bus cannot starve the rest. When the connection breaks, on_lost is
 * called once and the source is gone. The bus must not be closed from inside one of its own callbacks
 * (libsystemd 252 aborts), nor in on_lost: use an idle source.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/* Takes a reference of bus, flushed and closed with the source's last reference. Attach it with
 * g_source_attach(). */
GSource *sbx_bus_source_new (sd_bus *bus, void (*on_lost) (gpointer user_data), gpointer user_data);
