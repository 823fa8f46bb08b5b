/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandboxd: options, and what the exit status says. */
#include <stdio.h>
#include <sysexits.h>

#include "base/log.h"
#include "base/names.h"
#include "daemon/daemon.h"
#include "sbx-config.h"

static int
check (const char *config_root)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxSettings) settings = sbx_settings_load (config_root, warnings, &error);

  for (guint i = 0; i < warnings->len; i++)
    fprintf (stderr, "warning: %s\n", (const char *) warnings->pdata[i]);
  if (settings == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return EX_CONFIG;
    }
  printf ("The configuration is right: %u host tools, %u MCP servers.\n", settings->tools->len,
          settings->servers->len);
  return EX_OK;
}

int
main (int argc, char **argv)
{
  gboolean show_version = FALSE;
  gboolean only_check = FALSE;
  SbxDaemonPlaces places = {
    .state_dir = SBX_STATE_DIR,
    .run_dir = SBX_RUN_DIR,
    .docker_socket = SBX_DOCKER_SOCKET,
    .egress_socket = SBX_EGRESS_SOCKET,
    .broker_program = SBX_LIBEXECDIR "/sandbox-broker",
  };
  const GOptionEntry entries[] = {
    { "version", 0, 0, G_OPTION_ARG_NONE, &show_version, "Print the version", NULL },
    { "check", 0, 0, G_OPTION_ARG_NONE, &only_check, "Check the configuration and exit", NULL },
    { "root", 0, 0, G_OPTION_ARG_FILENAME, &places.config_root, "Read the configuration below DIR", "DIR" },
    { "bus-address", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &places.bus_address, NULL, NULL },
    { "state-dir", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &places.state_dir, NULL, NULL },
    { "run-dir", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &places.run_dir, NULL, NULL },
    { "docker-socket", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &places.docker_socket, NULL, NULL },
    { "egress-socket", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &places.egress_socket, NULL, NULL },
    { "broker", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &places.broker_program, NULL, NULL },
    { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
  };
  g_autoptr (GOptionContext) options = g_option_context_new ("- run guests' turns in sandboxes");
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxDaemon) daemon = NULL;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error) || argc > 1)
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "sandboxd takes no arguments, only options");
      return EX_USAGE;
    }
  if (show_version)
    {
      printf ("sandboxd %s\n", SBX_VERSION);
      return EX_OK;
    }
  if (only_check)
    return check (places.config_root);

  sbx_log_init ("sandboxd");
  daemon = sbx_daemon_new (&places, &error);
  if (daemon == NULL)
    {
      gboolean config = error->domain == SBX_CONFIG_ERROR;

      if (config)
        sbx_log_event (SBX_LOG_ID_CONFIG_REJECTED, LOG_ERR, NULL, "%s", error->message);
      else
        sbx_log (LOG_ERR, NULL, "%s", error->message);
      return config ? EX_CONFIG : EX_UNAVAILABLE;
    }
  if (!sbx_daemon_run (daemon, &error))
    {
      sbx_log (LOG_ERR, NULL, "%s", error->message);
      return EX_UNAVAILABLE;
    }
  return EX_OK;
}
