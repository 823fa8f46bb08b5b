/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/units-private.h"

#include "base/source.h"
#include "bus/bus-auto.h"

/* A systemd that is executed anew may lose the signal of a job's end, or an answer. Whether the process is in
 * its place can be seen all the same. */
#define LOOK_MSEC 1000u

static void go_on_when_started (SbxUnitsOp *op);
static void look_later (SbxUnitsOp *op);

static int
append_number (sd_bus_message *call, const char *name, guint64 value)
{
  return value > 0 ? sd_bus_message_append (call, "(sv)", name, "t", value) : 0;
}

/* No After=, PartOf= or BindsTo=: they hold up stops and leave scopes behind (seen with systemd 252 and 257).
 */
static int
append_properties (sd_bus_message *call, const SbxScopeSpec *spec)
{
  int r = sd_bus_message_open_container (call, 'a', "(sv)");

  if (r >= 0)
    r = sd_bus_message_append (call, "(sv)(sv)(sv)(sv)(sv)", "Description", "s", spec->description, "Slice",
                               "s", spec->slice, "PIDs", "au", 1, (guint32) spec->pid, "KillMode", "s",
                               "control-group", "CollectMode", "s", "inactive-or-failed");
  if (r >= 0)
    r = append_number (call, "RuntimeMaxUSec", spec->runtime_max_usec);
  if (r >= 0)
    r = append_number (call, "TimeoutStopUSec", spec->stop_timeout_usec);
  if (r >= 0)
    r = append_number (call, "MemoryMax", spec->memory_max_bytes);
  if (r >= 0)
    r = append_number (call, "TasksMax", spec->tasks_max);
  return r < 0 ? r : sd_bus_message_close_container (call);
}

static int
make_start (SbxUnits *units, const SbxScopeSpec *spec, sd_bus_message **ret_call)
{
  g_autoptr (sd_bus_message) call = NULL;
  int r = sbx_units_call_new (units, "StartTransientUnit", &call);

  if (r >= 0)
    r = sd_bus_message_append (call, "ss", spec->name, "fail");
  if (r >= 0)
    r = append_properties (call, spec);
  if (r >= 0)
    r = sd_bus_message_append (call, "a(sa(sv))", 0);
  if (r >= 0)
    *ret_call = g_steal_pointer (&call);
  return r;
}

static void
check_membership (SbxUnitsOp *op)
{
  g_autofree char *path = g_strdup_printf ("%s/%d/cgroup", sbx_units_proc (op->units), (int) op->pid);
  g_autofree char *text = NULL;

  if (g_file_get_contents (path, &text, NULL, NULL) && sbx_units_cgroup_is (text, op->control_group))
    {
      sbx_units_op_return (op, g_steal_pointer (&op->control_group), g_free);
      return;
    }
  if (op->looking)
    {
      op->looking = FALSE;
      g_clear_pointer (&op->control_group, g_free);
      if (op->job_result != NULL)
        go_on_when_started (op);
      else
        look_later (op);
      return;
    }
  sbx_units_op_fail (
    op, g_error_new (SBX_UNITS_ERROR, SBX_UNITS_ERROR_NOT_MEMBER, "Process %d is not in %s (%s).",
                     (int) op->pid, op->unit,
                     text != NULL ? "it is in another control group" : "its control group cannot be read"));
}

static void
control_group_answered (SbxUnitsOp *op, sd_bus_message *answer)
{
  const char *control_group = NULL;
  int r = sd_bus_message_read (answer, "v", "s", &control_group);

  if (r < 0)
    {
      sbx_units_op_fail_errno (op, r);
      return;
    }
  op->control_group = g_strdup (control_group);
  check_membership (op);
}

static void
ask_control_group (SbxUnitsOp *op)
{
  g_autofree char *path = NULL;
  g_autoptr (sd_bus_message) call = NULL;
  char *encoded = NULL;
  int r = sd_bus_path_encode (SBX_SYSTEMD_PATH "/unit", op->unit, &encoded);

  path = encoded;
  if (r >= 0)
    r = sd_bus_message_new_method_call (sbx_units_peek_bus (op->units), &call, SBX_SYSTEMD_NAME, path,
                                        "org.freedesktop.DBus.Properties", "Get");
  if (r >= 0)
    r = sd_bus_message_append (call, "ss", "org.freedesktop.systemd1.Scope", "ControlGroup");
  if (r >= 0)
    sbx_units_op_call (op, call, control_group_answered);
  else
    sbx_units_op_fail_errno (op, r);
}

static void
go_on_when_started (SbxUnitsOp *op)
{
  if (!op->accepted || op->job_result == NULL)
    return;
  if (g_str_equal (op->job_result, "done"))
    {
      ask_control_group (op);
      return;
    }
  sbx_units_op_fail (op, g_error_new (SBX_UNITS_ERROR, SBX_UNITS_ERROR_FAILED,
                                      "systemd did not start %s: %s.", op->unit, op->job_result));
}

static gboolean
on_job_idle (gpointer user_data)
{
  SbxUnitsOp *op = user_data;

  g_clear_pointer (&op->pending, g_source_unref);
  go_on_when_started (op);
  return G_SOURCE_REMOVE;
}

void
sbx_units_op_job_removed (SbxUnitsOp *op, const char *result)
{
  if (op->job_result != NULL)
    return;
  op->job_result = g_strdup (result);
  if (!op->accepted || op->looking)
    return;
  sbx_source_clear (&op->pending);
  /* From the main loop, not from inside sd_bus_process(). */
  op->pending = sbx_source_soon (on_job_idle, op);
}

static gboolean
on_look (gpointer user_data)
{
  SbxUnitsOp *op = user_data;

  g_clear_pointer (&op->pending, g_source_unref);
  op->looking = TRUE;
  ask_control_group (op);
  return G_SOURCE_REMOVE;
}

static void
look_later (SbxUnitsOp *op)
{
  op->pending = g_timeout_source_new (LOOK_MSEC);
  g_source_set_callback (op->pending, on_look, op, NULL);
  g_source_attach (op->pending, NULL);
}

static void
on_unanswered (SbxUnitsOp *op)
{
  op->accepted = TRUE;
  op->looking = FALSE;
  g_clear_pointer (&op->job_result, g_free);
  look_later (op);
}

static void
start_answered (SbxUnitsOp *op, sd_bus_message *answer)
{
  op->accepted = TRUE;
  if (op->job_result != NULL)
    go_on_when_started (op);
  else
    look_later (op);
}

void
sbx_units_start_scope_async (SbxUnits *self, const SbxScopeSpec *spec, GCancellable *cancellable,
                             GAsyncReadyCallback callback, gpointer user_data)
{
  SbxUnitsOp *op = sbx_units_op_new (self, SBX_UNITS_TIMEOUT_MS, cancellable, callback, user_data);
  g_autoptr (sd_bus_message) call = NULL;
  int r = make_start (self, spec, &call);

  op->unit = g_strdup (spec->name);
  op->pid = spec->pid;
  op->unanswered = on_unanswered;
  if (r >= 0)
    sbx_units_op_call (op, call, start_answered);
  else
    sbx_units_op_fail_errno (op, r);
}

gboolean
sbx_units_start_scope_finish (GAsyncResult *result, char **ret_control_group, GError **error)
{
  g_autofree char *control_group = g_task_propagate_pointer (G_TASK (result), error);

  if (control_group == NULL)
    return FALSE;
  if (ret_control_group != NULL)
    *ret_control_group = g_steal_pointer (&control_group);
  return TRUE;
}
