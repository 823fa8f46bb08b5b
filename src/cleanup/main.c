/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandbox-cleanup: removes what a sandboxd that is gone left behind. Run as root by systemd (ExecStopPost=,
 * OnFailure=, at boot), or by hand. Safe to repeat, and bounded in time. What is not this installation's is
 * never touched.
 *
 * Exit status: 0 nothing is left, 1 something is, 2 wrong usage, 3 sandboxd runs.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/installation.h"
#include "base/names.h"
#include "bus/bus-auto.h"
#include "cleanup/containers.h"
#include "cleanup/run-dirs.h"
#include "cleanup/units.h"
#include "sbx-config.h"

#define TIME_USEC (8 * G_USEC_PER_SEC)
/* Should a call hang beyond its own limit all the same. */
#define LAST_RESORT_SEC 12u

#define EXIT_USAGE 2
#define EXIT_RUNS  3

int
main (int argc, char **argv)
{
  gboolean show_version = FALSE;
  SbxSweep sweep = { 0 };
  const GOptionEntry entries[] = {
    { "dry-run", 'n', 0, G_OPTION_ARG_NONE, &sweep.dry_run, "Only tell what would be removed", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &show_version, "Print the version and exit", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) options = g_option_context_new ("- remove what sandboxd left behind");
  g_autoptr (GError) error = NULL;
  g_autoptr (sd_bus) bus = NULL;
  g_autofree char *installation = NULL;
  int r;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error) || argc > 1)
    {
      g_printerr ("sandbox-cleanup: %s\n",
                  error != NULL ? error->message : "it takes no arguments but --dry-run");
      return EXIT_USAGE;
    }
  if (show_version)
    {
      g_print ("sandbox-cleanup %s\n", SBX_VERSION);
      return EXIT_SUCCESS;
    }

  (void) alarm (LAST_RESORT_SEC);
  sweep.due_usec = g_get_monotonic_time () + TIME_USEC;
  r = sbx_sweep_open_bus (&bus);
  if (r < 0)
    sbx_sweep_fail (&sweep, "systemd cannot be reached, so scopes stay", g_strerror (-r));
  else if (!sweep.dry_run && sbx_sweep_daemon_runs (bus))
    {
      g_printerr ("sandboxd runs and cleans up by itself. To end every turn and clean up: systemctl restart "
                  "sandboxd\n");
      return EXIT_RUNS;
    }
  else
    sbx_sweep_units (&sweep, bus);
  sbx_sweep_run_dirs (&sweep, SBX_RUN_DIR);
  installation = sbx_installation_id (&error);
  if (installation == NULL)
    sbx_sweep_fail (&sweep, "Containers stay", error->message);
  else
    sbx_sweep_containers (&sweep, NULL, installation);

  if (sweep.n_found == 0 && sweep.n_failed == 0)
    g_print ("nothing to remove\n");
  return sweep.n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
