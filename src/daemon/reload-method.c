/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Manager.Reload: sandboxd reads its configuration again, then has the egress read its own. */
#include "daemon/manager-private.h"

#include "bus/errors.h"

static void
reply_rejected (sd_bus_message *message, const char *who, const char *why)
{
  (void) sd_bus_reply_method_errorf (message, sbx_bus_error_name (SBX_BUS_ERROR_CONFIG_REJECTED),
                                     "%s keeps its old configuration: %s", who, why);
}

static void
egress_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  g_autofree char *complaint = NULL;
  SbxFailure failure = sbx_egress_client_reload_finish (result, &complaint);

  if (failure == SBX_FAILURE_NONE)
    (void) sd_bus_reply_method_return (call->message, NULL);
  else
    reply_rejected (call->message, "sandboxd has the new configuration, but sandbox-egress",
                    complaint != NULL ? complaint : sbx_failure_text (failure));
}

static void
reload_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  g_autoptr (GError) error = NULL;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  if (!sbx_daemon_reload (call->manager->daemon, &error))
    {
      reply_rejected (call->message, "sandboxd", error->message);
      return;
    }
  sbx_egress_client_reload_async (sbx_daemon_context (call->manager->daemon)->egress,
                                  call->manager->cancellable, egress_done, call);
  (void) g_steal_pointer (&call); /* egress_done() has it */
}

int
sbx_method_reload (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  SbxManager *self = user_data;

  sbx_guard_check_async (self->guard, message, SBX_ACTION ("reload"), NULL, self->cancellable, reload_allowed,
                         sbx_manager_call_new (self, message, NULL, FALSE));
  return 1;
}
