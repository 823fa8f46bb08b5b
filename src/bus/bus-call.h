/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One method call as a GTask: with a deadline, cancellable, and answered from the main loop.
 *
 * The answer never comes from inside sd_bus_process(), so whoever gets it may drop slots, and even the bus. A
 * call on a bus that breaks is answered by sd-bus with org.freedesktop.DBus.Error.NoReply. The call keeps no
 * reference of the bus that would hold it open: free the connection and cancel, in any order.
 */
#pragma once

#include <gio/gio.h>
#include <systemd/sd-bus.h>

/* message is a method call that was made for bus; timeout_ms is above 0. */
void sbx_bus_call_async (sd_bus *bus, sd_bus_message *message, guint timeout_ms, GCancellable *cancellable,
                         GAsyncReadyCallback callback, gpointer user_data);

/* The answer, which may be an error of the peer's: see sd_bus_message_is_method_error(). The caller's. NULL
 * with error set (G_IO_ERROR_CANCELLED, _TIMED_OUT, or _FAILED when it could not be sent). */
sd_bus_message *sbx_bus_call_finish (GAsyncResult *result, GError **error);
