/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/units-private.h"

#include <signal.h>

#include "bus/bus-auto.h"

/* --- kill, stop, reset-failed --- */

static void
verb_answered (SbxUnitsOp *op, sd_bus_message *answer)
{
  sbx_units_op_return (op, NULL, NULL);
}

static int
make_verb (SbxUnits *units, SbxUnitsVerb verb, const char *unit, sd_bus_message **ret_call)
{
  static const char *const methods[] = {
    [SBX_UNITS_KILL] = "KillUnit",
    [SBX_UNITS_STOP] = "StopUnit",
    [SBX_UNITS_RESET_FAILED] = "ResetFailedUnit",
  };
  g_autoptr (sd_bus_message) call = NULL;
  int r = sbx_units_call_new (units, methods[verb], &call);

  if (r >= 0)
    r = sd_bus_message_append (call, "s", unit);
  if (r >= 0 && verb == SBX_UNITS_KILL)
    r = sd_bus_message_append (call, "si", "all", SIGKILL);
  if (r >= 0 && verb == SBX_UNITS_STOP)
    r = sd_bus_message_append (call, "s", "replace");
  if (r >= 0)
    *ret_call = g_steal_pointer (&call);
  return r;
}

void
sbx_units_do_async (SbxUnits *self, SbxUnitsVerb verb, const char *unit, guint timeout_ms,
                    GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  SbxUnitsOp *op = sbx_units_op_new (self, timeout_ms, cancellable, callback, user_data);
  g_autoptr (sd_bus_message) call = NULL;
  int r = make_verb (self, verb, unit, &call);

  if (r >= 0)
    sbx_units_op_call (op, call, verb_answered);
  else
    sbx_units_op_fail_errno (op, r);
}

gboolean
sbx_units_do_finish (GAsyncResult *result, GError **error)
{
  gboolean done = !g_task_had_error (G_TASK (result));

  (void) g_task_propagate_pointer (G_TASK (result), error);
  return done;
}

/* --- list --- */

static void
unit_info_free (SbxUnitInfo *info)
{
  g_free (info->name);
  g_free (info->active_state);
  g_free (info->sub_state);
  g_free (info);
}

static void
list_answered (SbxUnitsOp *op, sd_bus_message *answer)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) unit_info_free);
  const char *name = NULL;
  const char *active = NULL;
  const char *sub = NULL;
  int r = sd_bus_message_enter_container (answer, 'a', "(ssssssouso)");

  while (r >= 0
         && (r = sd_bus_message_read (answer, "(ssssssouso)", &name, NULL, NULL, &active, &sub, NULL, NULL,
                                      NULL, NULL, NULL))
              > 0)
    {
      SbxUnitInfo *info = g_new0 (SbxUnitInfo, 1);

      info->name = g_strdup (name);
      info->active_state = g_strdup (active);
      info->sub_state = g_strdup (sub);
      g_ptr_array_add (list, info);
    }
  if (r < 0)
    sbx_units_op_fail_errno (op, r);
  else
    sbx_units_op_return (op, g_steal_pointer (&list), (GDestroyNotify) g_ptr_array_unref);
}

void
sbx_units_list_async (SbxUnits *self, const char *pattern, guint timeout_ms, GCancellable *cancellable,
                      GAsyncReadyCallback callback, gpointer user_data)
{
  SbxUnitsOp *op = sbx_units_op_new (self, timeout_ms, cancellable, callback, user_data);
  g_autoptr (sd_bus_message) call = NULL;
  int r = sbx_units_call_new (self, "ListUnitsByPatterns", &call);

  if (r >= 0)
    r = sd_bus_message_append (call, "asas", 0, 1, pattern);
  if (r >= 0)
    sbx_units_op_call (op, call, list_answered);
  else
    sbx_units_op_fail_errno (op, r);
}

GPtrArray *
sbx_units_list_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
