/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/state.h"

#include <errno.h>

#include "daemon/state-lock.h"
#include "turn/run-dir.h"
#include "turn/workspace.h"

gboolean
sbx_daemon_state_open (SbxDaemonState *self, SbxTurnContext *context, const SbxDaemonPlaces *places,
                       GError **error)
{
  g_autofree char *channels = g_build_filename (places->state_dir, "channels.json", NULL);
  g_autofree char *records = g_build_filename (places->state_dir, "turns", NULL);

  context->run_root = g_strdup (places->run_dir);
  context->workspaces_root = g_build_filename (places->state_dir, "workspaces", NULL);
  if (!sbx_run_dir_check_root (context->run_root, error))
    return FALSE;
  if (g_mkdir_with_parents (places->run_dir, 0700) < 0 || g_mkdir_with_parents (places->state_dir, 0700) < 0)
    {
      int saved_errno = errno;

      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved_errno), "Cannot make %s or %s: %s",
                   places->run_dir, places->state_dir, g_strerror (saved_errno));
      return FALSE;
    }
  self->lock = sbx_state_lock_take (places->state_dir, error);
  if (self->lock < 0 || !sbx_workspace_check_root (context->workspaces_root, error))
    return FALSE;
  self->channels = sbx_channel_store_open (
    channels, (const char *const *) context->settings->config->initial_channels, error);
  if (self->channels == NULL)
    return FALSE;
  self->dir = sbx_state_dir_open (places->state_dir, error);
  if (self->dir == NULL)
    return FALSE;
  context->resets = sbx_resets_open (self->dir, "resets.json", error);
  if (context->resets == NULL)
    return FALSE;
  context->records = sbx_record_store_open (records, error);
  return context->records != NULL;
}

void
sbx_daemon_state_close (SbxDaemonState *self)
{
  sbx_channel_store_free (self->channels);
  sbx_state_dir_free (self->dir);
  sbx_fd_close (g_steal_fd (&self->lock));
  *self = (SbxDaemonState){ .lock = -1 };
}
