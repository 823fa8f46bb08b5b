/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Who calls, and may they? Every method goes through here between the check of its arguments and its deed:
 * the caller's uid is asked of the bus, then polkit for the action, both without blocking. What the method
 * looked up before is looked up again afterwards.
 */
#pragma once

#include <gio/gio.h>
#include <systemd/sd-bus.h>

/* details: NULL, or name, value, …, NULL; copied. message is kept until the verdict. */
void sbx_guard_check_async (sd_bus_message *message, const char *action, const char *const *details,
                            GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/* TRUE: allowed, with the caller's uid. FALSE: refused, gone or cancelled, and the message is answered
 * already. */
gboolean sbx_guard_check_finish (GAsyncResult *result, guint32 *ret_uid);
