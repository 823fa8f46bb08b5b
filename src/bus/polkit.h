/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Asks polkit, asynchronously, whether the sender of a message may do a thing.
 *
 * The subject is the sender's bus name, so polkit itself looks up who that is; the rules are its own (root,
 * owner, agent). Interaction is allowed only where the message allows it. A caller who goes away, or a
 * cancelled check, is told to polkit (CancelCheckAuthorization), so that no password dialogue stays behind.
 * polkit accepts details only from the owner of the action (annotation org.freedesktop.policykit.owner in our
 * policy file).
 */
#pragma once

#include <gio/gio.h>
#include <systemd/sd-bus.h>

#define SBX_POLKIT_ERROR (sbx_polkit_error_quark ())
GQuark sbx_polkit_error_quark (void);
typedef enum {
  SBX_POLKIT_ERROR_ABSENT,  /* polkit is not on the bus and cannot be started */
  SBX_POLKIT_ERROR_TIMEOUT, /* no verdict in time */
  SBX_POLKIT_ERROR_FAILED,  /* polkit refused to judge: is our policy file installed? Or the bus broke */
} SbxPolkitError;

typedef enum {
  SBX_POLKIT_NO,
  SBX_POLKIT_YES,
  SBX_POLKIT_CHALLENGE, /* somebody would have to authenticate, and interaction was not allowed or nobody
                           answers */
} SbxPolkitVerdict;

/* Without interaction: longer than the 15 s that polkit gives a rule's script, during which it judges nobody
 * else. With it, a person has SBX_POLKIT_INTERACTIVE_TIMEOUT_MS. */
#define SBX_POLKIT_TIMEOUT_MS             20000u
#define SBX_POLKIT_INTERACTIVE_TIMEOUT_MS 60000u

/* message is kept until the verdict. details: NULL, or name, value, … , NULL. A message without a sender (a
 * private socket) is refused with SBX_POLKIT_ERROR_FAILED. */
void sbx_polkit_check_async (sd_bus_message *message, const char *action, const char *const *details,
                             GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
/* FALSE with error set (SBX_POLKIT_ERROR, G_IO_ERROR_CANCELLED): treat as NO, with this error as the reason.
 */
gboolean sbx_polkit_check_finish (GAsyncResult *result, SbxPolkitVerdict *ret_verdict, GError **error);

/* Answers message as systemd's own services do: AccessDenied, or InteractiveAuthorizationRequired for
 * CHALLENGE, or AccessDenied with error's text where error is not NULL. */
int sbx_polkit_reply_refused (sd_bus_message *message, SbxPolkitVerdict verdict, const GError *error);
