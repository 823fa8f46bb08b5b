/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "cleanup/units.h"

#include <errno.h>
#include <signal.h>

#include "base/names.h"
#include "bus/bus-auto.h"

#define SYSTEMD         "org.freedesktop.systemd1"
#define SYSTEMD_PATH    "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER SYSTEMD ".Manager"
#define DAEMON_PATH     SYSTEMD_PATH "/unit/sandboxd_2eservice"

#define CALL_USEC (2u * G_USEC_PER_SEC)
/* On cgroup v1 killing a process that is just dying fails with EIO: again, then. */
#define KILL_TRIES      3u
#define KILL_PAUSE_USEC (50u * 1000u)

/* systemd's own socket, which root may use (systemctl(1) does): scopes can be ended without a bus daemon. */
static int
open_private (sd_bus **ret_bus)
{
  g_autoptr (sd_bus) bus = NULL;
  int r = sd_bus_new (&bus);

  if (r >= 0)
    r = sd_bus_set_address (bus, "unix:path=/run/systemd/private");
  if (r >= 0)
    r = sd_bus_start (bus);
  if (r < 0)
    return r;
  *ret_bus = g_steal_pointer (&bus);
  return 0;
}

int
sbx_sweep_open_bus (sd_bus **ret_bus)
{
  int r = open_private (ret_bus);

  if (r < 0)
    r = sd_bus_open_system (ret_bus);
  if (r >= 0)
    (void) sd_bus_set_method_call_timeout (*ret_bus, CALL_USEC);
  return r;
}

gboolean
sbx_sweep_daemon_runs (sd_bus *bus)
{
  g_autofree char *state = NULL;
  char *answer = NULL;
  int r =
    sd_bus_get_property_string (bus, SYSTEMD, DAEMON_PATH, SYSTEMD ".Unit", "ActiveState", NULL, &answer);

  state = answer;
  return r >= 0 && (g_str_equal (state, "active") || g_str_equal (state, "reloading"));
}

/* Names of loaded units that match the glob and are, or may be, alive. NULL, and the failure told, where
 * systemd does not answer. */
static GPtrArray *
list_units (SbxSweep *self, sd_bus *bus, const char *glob)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (sd_bus_message) reply = NULL;
  g_auto (sd_bus_error) error = SD_BUS_ERROR_NULL;
  const char *name = NULL;
  int r = sd_bus_call_method (bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD_MANAGER, "ListUnitsByPatterns", &error,
                              &reply, "asas", 0, 1, glob);

  if (r >= 0)
    r = sd_bus_message_enter_container (reply, 'a', "(ssssssouso)");
  while (r >= 0
         && (r = sd_bus_message_read (reply, "(ssssssouso)", &name, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                      NULL, NULL))
              > 0)
    g_ptr_array_add (names, g_strdup (name));
  if (r >= 0)
    return g_steal_pointer (&names);
  sbx_sweep_fail (self, "systemd does not list its units",
                  error.message != NULL ? error.message : g_strerror (-r));
  return NULL;
}

/* SIGKILL to all processes of the unit. A unit that is gone is no failure. */
static void
kill_unit (SbxSweep *self, sd_bus *bus, const char *unit)
{
  for (guint i = 0; i < KILL_TRIES && sbx_sweep_time_left (self, 1) > 0; i++)
    {
      if (sd_bus_call_method (bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD_MANAGER, "KillUnit", NULL, NULL, "ssi",
                              unit, "all", SIGKILL)
          >= 0)
        return;
      g_usleep (KILL_PAUSE_USEC);
    }
}

/* What is left of a unit whose processes were killed: systemd drops it by itself, or is told to. */
static const char *
end_unit (sd_bus *bus, const char *unit, sd_bus_error *error)
{
  static const char *const gone = SYSTEMD ".NoSuchUnit";

  if (sd_bus_call_method (bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD_MANAGER, "StopUnit", error, NULL, "ss", unit,
                          "replace")
        < 0
      && !sd_bus_error_has_name (error, gone))
    return error->message != NULL ? error->message : "it could not be stopped";
  (void) sd_bus_call_method (bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD_MANAGER, "ResetFailedUnit", NULL, NULL, "s",
                             unit);
  return NULL;
}

void
sbx_sweep_units (SbxSweep *self, sd_bus *bus)
{
  g_autoptr (GPtrArray) scopes = list_units (self, bus, SBX_BROKER_SCOPE_GLOB);

  for (guint i = 0; scopes != NULL && !self->dry_run && i < scopes->len; i++)
    kill_unit (self, bus, g_ptr_array_index (scopes, i));
  /* The brokers first: dockerd may be blocked on one that does not read. Then the containers in our slice. */
  if (!self->dry_run)
    kill_unit (self, bus, SBX_TURN_SLICE);

  for (guint i = 0; scopes != NULL && i < scopes->len; i++)
    {
      const char *scope = g_ptr_array_index (scopes, i);
      g_auto (sd_bus_error) error = SD_BUS_ERROR_NULL;
      const char *why = NULL;

      if (sbx_sweep_time_left (self, 1) == 0)
        why = SBX_SWEEP_NO_TIME;
      else if (!self->dry_run)
        why = end_unit (bus, scope, &error);
      sbx_sweep_tell (self, "scope", scope, why);
    }
}
