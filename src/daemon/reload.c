/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/reload.h"

#include <pwd.h>
#include <unistd.h>

#include "base/log.h"

static const struct passwd *
find_worker (const char *name, GError **error)
{
  const struct passwd *user = getpwnam (name);

  if (user == NULL || user->pw_uid == 0 || user->pw_gid == 0)
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                   "The worker's user %s (User= of [Worker] in sandboxd.conf) %s", name,
                   user == NULL ? "does not exist; make it with systemd-sysusers" : "must not be root");
      return NULL;
    }
  if (user->pw_uid == geteuid ())
    sbx_log (LOG_WARNING, NULL, "Workers run as the service's own user; give them one of their own");
  return user;
}

gboolean
sbx_reload (SbxTurnContext *context, const char *root, GStrv *ret_warnings, GError **error)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (SbxSettings) settings = sbx_settings_load (root, warnings, error);
  const struct passwd *worker;

  for (guint i = 0; i < warnings->len; i++)
    sbx_log (LOG_WARNING, NULL, "%s", (const char *) warnings->pdata[i]);
  g_ptr_array_add (warnings, NULL);
  *ret_warnings = g_strdupv ((char **) warnings->pdata);
  worker = settings != NULL ? find_worker (settings->config->worker_user, error) : NULL;
  if (worker == NULL)
    return FALSE;
  context->worker_uid = worker->pw_uid;
  context->worker_gid = worker->pw_gid;
  g_clear_pointer (&context->tools, g_ptr_array_unref);
  sbx_settings_free (context->settings);
  context->settings = g_steal_pointer (&settings);
  context->tools = sbx_turn_tools_new (context->settings->tools);
  return TRUE;
}
