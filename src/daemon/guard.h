/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Who calls, and may they? Every method goes through here between the check of its arguments and its deed.
 *
 * On the system bus the caller's uid is asked of the bus, then polkit for the action, both without blocking.
 * On the private socket the kernel's word is taken (rights.h). What the method looked up before is looked up
 * again afterwards. A caller, and a user over all connections, has a bounded number of questions under way,
 * so that a flood of calls costs the others nothing.
 */
#pragma once

#include <gio/gio.h>
#include <systemd/sd-bus.h>

typedef struct _SbxGuard SbxGuard;

SbxGuard *sbx_guard_new (void);
/* Only when no check is under way. NULL is fine. */
void sbx_guard_free (SbxGuard *self);

/* One text for each caller: their name on the bus, or the connection of the private socket. Free with
 * g_free(). */
char *sbx_caller_name (sd_bus_message *message);

/* action NULL: only who they are is asked, for a caller whose right is that a thing is theirs. details: NULL,
 * or name, value, …, NULL; copied, and channel-shown is added to channel. message is kept until the verdict.
 */
void sbx_guard_check_async (SbxGuard *guard, sd_bus_message *message, const char *action,
                            const char *const *details, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data);

/* TRUE: allowed, with the caller's uid. FALSE: refused, gone or cancelled, and the message is answered
 * already. */
gboolean sbx_guard_check_finish (GAsyncResult *result, guint32 *ret_uid);
