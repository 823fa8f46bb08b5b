/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* units-probe: a scope of our own from start to end, and a restart of the bus, with the room's own client
 * against a real systemd. Run in a machine, as root or as the service's user (then polkit decides):
 * `units-probe [--restart-bus]`.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/names.h"
#include "bus/bus-connection.h"
#include "bus/systemd-units.h"
#include "probe.h"

static guint n_ready;
static SbxUnits *units;

static gboolean
on_ready (SbxBusConnection *connection, sd_bus *bus, gpointer user_data)
{
  units = sbx_units_new (bus, NULL);
  n_ready++;
  return units != NULL;
}

static void
on_lost (SbxBusConnection *connection, gpointer user_data)
{
  g_clear_pointer (&units, sbx_units_free);
}

static pid_t
spawn_waiting (int *ret_gate)
{
  int gate[2];
  pid_t pid = 0;

  need (pipe (gate) == 0, NULL, "pipe");
  pid = fork ();
  if (pid == 0)
    {
      char byte = 0;

      prctl (PR_SET_PDEATHSIG, SIGKILL);
      close (gate[1]);
      if (read (gate[0], &byte, 1) < 1)
        _exit (1);
      for (;;)
        pause ();
    }
  close (gate[0]);
  *ret_gate = gate[1];
  return pid;
}

static gboolean
start (const char *name, pid_t pid, char **ret_group, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  sbx_units_start_scope_async (units,
                               &(SbxScopeSpec){
                                 .name = name,
                                 .description = "units-probe",
                                 .slice = SBX_TURN_SLICE,
                                 .pid = pid,
                                 .runtime_max_usec = 60 * G_USEC_PER_SEC,
                                 .stop_timeout_usec = G_USEC_PER_SEC,
                                 .memory_max_bytes = 32u << 20,
                                 .tasks_max = 4,
                               },
                               NULL, keep, &result);
  return sbx_units_start_scope_finish (await (&result), ret_group, error);
}

static void
probe_scope (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *group = NULL;
  g_autoptr (GAsyncResult) listed = NULL;
  g_autoptr (GAsyncResult) killed = NULL;
  g_autoptr (GPtrArray) list = NULL;
  int gate = -1;
  int status = 0;
  pid_t pid = spawn_waiting (&gate);

  need (start (name, pid, &group, &error), &error, "scope started, process in it");
  printf ("           %s\n", group);
  need (write (gate, "x", 1) == 1, NULL, "gate opened");
  need (!start (name, pid, NULL, &error)
          && g_error_matches (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NAME_TAKEN),
        &error, "the same name again is refused");
  g_clear_error (&error);

  sbx_units_list_async (units, SBX_BROKER_SCOPE_GLOB, 0, NULL, keep, &listed);
  list = sbx_units_list_finish (await (&listed), &error);
  need (list != NULL && list->len >= 1, &error, "listed");

  sbx_units_do_async (units, SBX_UNITS_KILL, name, 0, NULL, keep, &killed);
  need (sbx_units_do_finish (await (&killed), &error), &error, "killed");
  need (waitpid (pid, &status, 0) == pid && WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL, NULL,
        "reaped");
  close (gate);
  for (;;)
    {
      g_autoptr (GAsyncResult) again = NULL;

      g_clear_error (&error);
      sbx_units_do_async (units, SBX_UNITS_STOP, name, 0, NULL, keep, &again);
      if (!sbx_units_do_finish (await (&again), &error))
        break;
    }
  need (g_error_matches (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NO_UNIT), &error, "gone by itself");
}

/* What a caller without the right gets. */
static void
probe_foreign (void)
{
  g_autoptr (GError) error = NULL;
  int gate = -1;
  pid_t pid = spawn_waiting (&gate);

  if (start ("units-probe-foreign.scope", pid, NULL, &error))
    say ("a name that is not the service's: allowed (root, or systemd before 257)");
  else
    printf ("           a name that is not the service's: %s\n", error->message);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  close (gate);
}

int
main (int argc, char **argv)
{
  static const SbxBusConnectionEvents events = { on_ready, on_lost };
  g_autoptr (SbxBusConnection) connection = NULL;
  g_autofree char *name = NULL;

  probe_begin ("units-probe");
  connection = sbx_bus_connection_new (NULL, &events, NULL);
  while (n_ready == 0)
    g_main_context_iteration (NULL, TRUE);
  say ("on the bus");
  name = g_strdup_printf (SBX_BROKER_SCOPE_FORMAT, "probe1");
  probe_scope (name);
  probe_foreign ();
  if (argc > 1 && g_str_equal (argv[1], "--restart-bus"))
    {
      need (system ("systemctl restart dbus.service") == 0, NULL, "bus restarted");
      while (n_ready == 1 || units == NULL)
        g_main_context_iteration (NULL, TRUE);
      say ("on the bus again");
      probe_scope (name);
    }
  g_clear_pointer (&units, sbx_units_free);
  puts ("units-probe: all as it should be");
  return 0;
}
