/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Manager.PurgeChannel: the channel's turns are ended, its workspace is set aside and wiped. */
#include "daemon/manager-private.h"

#include "base/log.h"
#include "bus/errors.h"
#include "daemon/guard.h"
#include "turn/prepared.h"

static void
purge_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  g_autoptr (GError) error = NULL;
  const SbxLogFields fields = { .channel = call->text };

  if (sbx_wiper_purge_finish (result, &error))
    {
      sbx_log_event (SBX_LOG_ID_CHANNEL_PURGED, LOG_NOTICE, &fields,
                     "All that was stored of the channel %s is deleted", call->text);
      (void) sd_bus_reply_method_return (call->message, NULL);
      return;
    }
  (void) sd_bus_reply_method_errorf (call->message, sbx_bus_error_failure_name (SBX_FAILURE_CLEANUP), "%s",
                                     error->message);
}

static void
purge_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxManagerCall) call = user_data;
  g_autofree char *hash = NULL;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid))
    return;
  /* A turn that is still being removed holds the old workspace, which is not the channel's any more. */
  (void) sbx_turns_purge (sbx_daemon_turns (call->manager->daemon), call->text);
  sbx_prepared_drop (sbx_daemon_context (call->manager->daemon)->prepared, call->text);
  hash = sbx_channel_hash (call->text);
  sbx_wiper_purge_async (sbx_daemon_wiper (call->manager->daemon), hash, purge_done, call);
  (void) g_steal_pointer (&call); /* purge_done() has it */
}

int
sbx_method_purge_channel (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  const char *channel;
  int r = sd_bus_message_read (message, "s", &channel);

  if (r < 0 || (r = sbx_manager_check_channel (channel, ret_error)) < 0)
    return r;
  return sbx_manager_ask (user_data, message, SBX_ACTION ("purge-channel"), channel, purge_allowed);
}
