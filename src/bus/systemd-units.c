/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/units-private.h"

#include <errno.h>
#include <string.h>

#include "base/source.h"
#include "bus/bus-auto.h"
#include "bus/bus-call.h"

struct _SbxUnits {
  sd_bus *bus;
  sd_bus_slot *job_removed;
  sd_bus_slot *subscribed;
  sd_bus_slot *watched;
  void (*changed) (gpointer user_data);
  gpointer changed_data;
  char *manager;  /* systemd's unique name; NULL: not known yet */
  GPtrArray *ops; /* those that run, not owned */
  char *proc;
};

G_DEFINE_QUARK (sbx - units - error - quark, sbx_units_error)

sd_bus *
sbx_units_peek_bus (SbxUnits *self)
{
  return self->bus;
}

int
sbx_units_call_new (SbxUnits *self, const char *method, sd_bus_message **ret_call)
{
  return sd_bus_message_new_method_call (self->bus, ret_call, SBX_SYSTEMD_NAME, SBX_SYSTEMD_PATH,
                                         SBX_SYSTEMD_MANAGER, method);
}

const char *
sbx_units_proc (SbxUnits *self)
{
  return self->proc;
}

void
sbx_units_set_proc (SbxUnits *self, const char *proc)
{
  g_free (self->proc);
  self->proc = g_strdup (proc);
}

/* --- operations --- */

static void
op_free (SbxUnitsOp *op)
{
  if (op->units != NULL)
    g_ptr_array_remove_fast (op->units->ops, op);
  sbx_task_guard_disarm (&op->guard);
  sbx_source_clear (&op->pending);
  g_object_unref (op->inner);
  g_object_unref (op->task);
  g_clear_error (&op->stopped);
  g_free (op->unit);
  g_free (op->job_result);
  g_free (op->control_group);
  g_free (op);
}

void
sbx_units_op_return (SbxUnitsOp *op, gpointer value, GDestroyNotify destroy)
{
  g_autoptr (GTask) task = g_object_ref (op->task);

  op_free (op);
  g_task_return_pointer (task, value, destroy);
}

void
sbx_units_op_fail (SbxUnitsOp *op, GError *error)
{
  g_autoptr (GTask) task = g_object_ref (op->task);

  op_free (op);
  g_task_return_error (task, error);
}

void
sbx_units_op_fail_errno (SbxUnitsOp *op, int r)
{
  sbx_units_op_fail (op, g_error_new (SBX_UNITS_ERROR,
                                      r == -ENOTCONN ? SBX_UNITS_ERROR_BUS : SBX_UNITS_ERROR_FAILED,
                                      "systemd cannot be asked: %s.", g_strerror (-r)));
}

/* Ends the operation for a reason from outside; takes error. From the main loop only, as it may call back. */
static void
op_stop (SbxUnitsOp *op, GError *error)
{
  if (!op->calling)
    {
      sbx_units_op_fail (op, error);
      return;
    }
  if (op->stopped != NULL)
    {
      g_error_free (error);
      return;
    }
  op->stopped = error;
  g_cancellable_cancel (op->inner);
}

static void
on_over (gpointer user_data, gboolean cancelled)
{
  op_stop (user_data, cancelled ? g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                       "The call to systemd was cancelled.")
                                : g_error_new_literal (SBX_UNITS_ERROR, SBX_UNITS_ERROR_TIMEOUT,
                                                       "systemd did not get it done in time."));
}

SbxUnitsOp *
sbx_units_op_new (SbxUnits *self, guint timeout_ms, GCancellable *cancellable, GAsyncReadyCallback callback,
                  gpointer user_data)
{
  SbxUnitsOp *op = g_new0 (SbxUnitsOp, 1);

  op->units = self;
  op->task = g_task_new (NULL, cancellable, callback, user_data);
  g_task_set_check_cancellable (op->task, FALSE);
  op->inner = g_cancellable_new ();
  sbx_task_guard_arm (&op->guard, timeout_ms > 0 ? timeout_ms : SBX_UNITS_TIMEOUT_MS, cancellable, on_over,
                      op);
  g_ptr_array_add (self->ops, op);
  return op;
}

static SbxUnitsError
error_code (const char *name)
{
  static const struct {
    const char *name;
    SbxUnitsError code;
  } codes[] = {
    { "org.freedesktop.DBus.Error.AccessDenied", SBX_UNITS_ERROR_DENIED },
    { "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", SBX_UNITS_ERROR_DENIED },
    { "org.freedesktop.DBus.Error.NoReply", SBX_UNITS_ERROR_BUS },
    { "org.freedesktop.DBus.Error.ServiceUnknown", SBX_UNITS_ERROR_BUS },
    { "org.freedesktop.systemd1.UnitExists", SBX_UNITS_ERROR_NAME_TAKEN },
    { "org.freedesktop.systemd1.NoSuchUnit", SBX_UNITS_ERROR_NO_UNIT },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (codes); i++)
    if (g_str_equal (codes[i].name, name))
      return codes[i].code;
  return SBX_UNITS_ERROR_FAILED;
}

static void
call_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbxUnitsOp *op = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (sd_bus_message) answer = sbx_bus_call_finish (result, &error);
  const sd_bus_error *refusal = answer != NULL ? sd_bus_message_get_error (answer) : NULL;

  op->calling = FALSE;
  if (op->stopped != NULL)
    {
      sbx_units_op_fail (op, g_steal_pointer (&op->stopped));
    }
  else if (answer == NULL)
    {
      sbx_units_op_fail (op, g_error_new (SBX_UNITS_ERROR, SBX_UNITS_ERROR_BUS, "systemd cannot be asked: %s",
                                          error->message));
    }
  else if (refusal != NULL && op->unanswered != NULL
           && g_str_equal (refusal->name, "org.freedesktop.DBus.Error.NoReply"))
    {
      op->unanswered (op);
    }
  else if (refusal != NULL)
    {
      sbx_units_op_fail (op, g_error_new (SBX_UNITS_ERROR, (gint) error_code (refusal->name),
                                          "systemd refused: %s",
                                          refusal->message != NULL ? refusal->message : refusal->name));
    }
  else
    {
      /* systemd gets a new name when it is executed anew; its answers always come from the present one. */
      if (sd_bus_message_get_sender (answer) != NULL
          && g_strcmp0 (sd_bus_message_get_sender (answer), op->units->manager) != 0)
        {
          g_free (op->units->manager);
          op->units->manager = g_strdup (sd_bus_message_get_sender (answer));
        }
      op->answered (op, answer);
    }
}

void
sbx_units_op_call (SbxUnitsOp *op, sd_bus_message *message, SbxUnitsAnswered answered)
{
  op->answered = answered;
  op->calling = TRUE;
  /* The operation's own timer is the limit of the call, too. */
  sbx_bus_call_async (op->units->bus, message, SBX_UNITS_TIMEOUT_MS * 10, op->inner, call_done, op);
}

/* --- the manager --- */

static int
on_job_removed (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  SbxUnits *self = user_data;
  const char *unit = NULL;
  const char *result = NULL;

  /* Anybody may send us a signal of that name: only systemd's counts. */
  if (self->manager != NULL && g_strcmp0 (sd_bus_message_get_sender (message), self->manager) != 0)
    return 0;
  if (sd_bus_message_read (message, "uoss", NULL, NULL, &unit, &result) < 0)
    return 0;
  for (guint i = 0; i < self->ops->len; i++)
    {
      SbxUnitsOp *op = g_ptr_array_index (self->ops, i);

      if (g_strcmp0 (op->unit, unit) == 0)
        {
          sbx_units_op_job_removed (op, result);
          break;
        }
    }
  return 0;
}

static int
on_subscribed (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  SbxUnits *self = user_data;

  if (self->manager == NULL && !sd_bus_message_is_method_error (message, NULL))
    self->manager = g_strdup (sd_bus_message_get_sender (message));
  return 0;
}

SbxUnits *
sbx_units_new (sd_bus *bus, GError **error)
{
  g_autoptr (SbxUnits) self = g_new0 (SbxUnits, 1);
  int r = 0;

  self->bus = sd_bus_ref (bus);
  self->ops = g_ptr_array_new ();
  self->proc = g_strdup ("/proc");
  r = sd_bus_match_signal_async (bus, &self->job_removed, SBX_SYSTEMD_NAME, SBX_SYSTEMD_PATH,
                                 SBX_SYSTEMD_MANAGER, "JobRemoved", on_job_removed, NULL, self);
  if (r >= 0)
    r = sd_bus_call_method_async (bus, &self->subscribed, SBX_SYSTEMD_NAME, SBX_SYSTEMD_PATH,
                                  SBX_SYSTEMD_MANAGER, "Subscribe", on_subscribed, self, NULL);
  if (r >= 0)
    return g_steal_pointer (&self);
  g_set_error (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_BUS, "systemd cannot be reached on the bus: %s.",
               g_strerror (-r));
  return NULL;
}

static int
on_unit_changed (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  SbxUnits *self = user_data;

  /* As above. */
  if (self->manager == NULL || g_strcmp0 (sd_bus_message_get_sender (message), self->manager) == 0)
    self->changed (self->changed_data);
  return 0;
}

gboolean
sbx_units_watch (SbxUnits *self, const char *unit, void (*changed) (gpointer user_data), gpointer user_data,
                 GError **error)
{
  g_autofree char *path = NULL;
  char *encoded = NULL;
  int r = sd_bus_path_encode (SBX_SYSTEMD_PATH "/unit", unit, &encoded);

  path = encoded;
  self->watched = sd_bus_slot_unref (self->watched);
  self->changed = changed;
  self->changed_data = user_data;
  if (r >= 0)
    r = sd_bus_match_signal_async (self->bus, &self->watched, SBX_SYSTEMD_NAME, path,
                                   "org.freedesktop.DBus.Properties", "PropertiesChanged", on_unit_changed,
                                   NULL, self);
  if (r >= 0)
    return TRUE;
  g_set_error (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_BUS, "%s cannot be watched: %s.", unit,
               g_strerror (-r));
  return FALSE;
}

static gboolean
on_orphaned (gpointer user_data)
{
  SbxUnitsOp *op = user_data;

  sbx_units_op_fail (op, g_error_new_literal (SBX_UNITS_ERROR, SBX_UNITS_ERROR_BUS,
                                              "The connection to systemd was given up."));
  return G_SOURCE_REMOVE;
}

void
sbx_units_free (SbxUnits *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->ops->len; i++)
    {
      SbxUnitsOp *op = g_ptr_array_index (self->ops, i);

      op->units = NULL;
      sbx_task_guard_disarm (&op->guard);
      sbx_source_clear (&op->pending);
      if (op->calling)
        {
          op_stop (op, g_error_new_literal (SBX_UNITS_ERROR, SBX_UNITS_ERROR_BUS,
                                            "The connection to systemd was given up."));
        }
      else
        {
          op->pending = g_idle_source_new ();
          g_source_set_callback (op->pending, on_orphaned, op, NULL);
          g_source_attach (op->pending, NULL);
        }
    }
  g_ptr_array_unref (self->ops);
  g_clear_pointer (&self->job_removed, sd_bus_slot_unref);
  g_clear_pointer (&self->subscribed, sd_bus_slot_unref);
  g_clear_pointer (&self->watched, sd_bus_slot_unref);
  sd_bus_unref (self->bus);
  g_free (self->manager);
  g_free (self->proc);
  g_free (self);
}

gboolean
sbx_units_cgroup_is (const char *proc_cgroup, const char *control_group)
{
  g_auto (GStrv) lines = g_strsplit (proc_cgroup, "\n", -1);

  /* An empty one is what systemd says of a unit without processes. */
  if (*control_group != '/' || control_group[1] == '\0')
    return FALSE;
  for (char **line = lines; *line != NULL; line++)
    {
      const char *names = strchr (*line, ':');
      const char *path = names != NULL ? strchr (names + 1, ':') : NULL;
      gboolean v1 = names != NULL && g_str_has_prefix (names, ":name=systemd:");

      if (path == NULL || (!v1 && !g_str_has_prefix (*line, "0::")))
        continue;
      if (g_str_equal (path + 1, control_group))
        return TRUE;
      /* On a hybrid host both lines are there, and systemd keeps its tree in the v1 one. */
    }
  return FALSE;
}
