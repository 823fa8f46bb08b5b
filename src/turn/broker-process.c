/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/broker-process.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/names.h"
#include "base/source.h"

/* The descriptors' numbers in the child. */
#define CHILD_LISTENER    3
#define CHILD_CONTROL     4
#define NAME_TRIES        3u
#define END_UNIT_MSEC     5000u
#define STOP_TIMEOUT_USEC (1u * G_USEC_PER_SEC)
#define MEMORY_MAX_BYTES  (G_GUINT64_CONSTANT (192) * 1024 * 1024)
#define TASKS_MAX         8u

struct _SbxBrokerProcess {
  GPid pid;           /* 0 once it is reaped */
  gboolean abandoned; /* freed while it ran: lives until it is reaped */
  void (*gone) (gpointer user_data);
  gpointer gone_data;
  GSource *gone_source;
};

static void
units_start_async (gpointer maker_self, const SbxScopeSpec *spec, GCancellable *cancellable,
                   GAsyncReadyCallback callback, gpointer user_data)
{
  SbxUnits **units = maker_self;

  if (*units == NULL)
    g_task_report_new_error (NULL, callback, user_data, NULL, SBX_UNITS_ERROR, SBX_UNITS_ERROR_BUS,
                             "The system bus is not there");
  else
    sbx_units_start_scope_async (*units, spec, cancellable, callback, user_data);
}

static gboolean
units_start_finish (GAsyncResult *result, GError **error)
{
  /* Also the error that was reported above, which is none of SbxUnits' own tasks. */
  if (g_task_had_error (G_TASK (result)))
    return g_task_propagate_boolean (G_TASK (result), error);
  return sbx_units_start_scope_finish (result, NULL, error);
}

static void
units_end_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autofree char *unit = user_data;
  g_autoptr (GError) error = NULL;

  if (!sbx_units_do_finish (result, &error)
      && !g_error_matches (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NO_UNIT))
    sbx_log (LOG_NOTICE, NULL, "systemd did not end %s: %s", unit, error->message);
}

static void
units_end (gpointer maker_self, SbxUnitsVerb verb, const char *unit)
{
  SbxUnits **units = maker_self;

  if (*units != NULL)
    sbx_units_do_async (*units, verb, unit, END_UNIT_MSEC, NULL, units_end_done, g_strdup (unit));
}

static void
units_kill (gpointer maker_self, const char *unit)
{
  units_end (maker_self, SBX_UNITS_KILL, unit);
}

static void
units_stop (gpointer maker_self, const char *unit)
{
  units_end (maker_self, SBX_UNITS_STOP, unit);
}

const SbxScopeMaker sbx_scope_maker_systemd = { units_start_async, units_start_finish, units_kill,
                                                units_stop };

static void
on_broker_gone (GPid pid, int wait_status, gpointer user_data)
{
  SbxBrokerProcess *self = user_data;

  g_spawn_close_pid (pid);
  self->pid = 0;
  if (self->abandoned)
    g_free (self);
  else if (self->gone != NULL)
    self->gone (self->gone_data);
}

SbxBrokerProcess *
sbx_broker_process_spawn (const char *program, int listener, int *ret_control, GError **error)
{
  g_autoptr (SbxBrokerProcess) self = g_new0 (SbxBrokerProcess, 1);
  g_autofree char *listen_option = g_strdup_printf ("--listen-fd=%d", CHILD_LISTENER);
  g_autofree char *control_option = g_strdup_printf ("--control-fd=%d", CHILD_CONTROL);
  const char *const argv[] = { program, listen_option, control_option, NULL };
  /* Nothing of ours goes into a process that reads a guest's bytes; JOURNAL_STREAM says how to log. */
  const char *journal = g_getenv ("JOURNAL_STREAM");
  g_autofree char *journal_setting = journal != NULL ? g_strconcat ("JOURNAL_STREAM=", journal, NULL) : NULL;
  const char *const envp[] = { "LC_ALL=C.UTF-8", journal_setting, NULL };
  g_auto (SbxFd) ours = -1;
  g_auto (SbxFd) theirs = -1;
  int pair[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    {
      int saved_errno = errno;

      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved_errno),
                   "Cannot make the broker's control socket: %s", g_strerror (saved_errno));
      return NULL;
    }
  ours = pair[0];
  theirs = pair[1];
  {
    const int source_fds[] = { listener, theirs };
    const int target_fds[] = { CHILD_LISTENER, CHILD_CONTROL };

    if (!g_spawn_async_with_pipes_and_fds ("/", argv, envp, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, -1, -1, -1,
                                           source_fds, target_fds, G_N_ELEMENTS (source_fds), &self->pid,
                                           NULL, NULL, NULL, error))
      return NULL;
  }
  g_child_watch_add (self->pid, on_broker_gone, self);
  *ret_control = g_steal_fd (&ours);
  return g_steal_pointer (&self);
}

void
sbx_broker_process_free (SbxBrokerProcess *self)
{
  if (self == NULL)
    return;
  sbx_source_clear (&self->gone_source);
  if (self->pid == 0)
    {
      g_free (self);
      return;
    }
  sbx_broker_process_kill (self);
  self->abandoned = TRUE;
}

gboolean
sbx_broker_process_is_alive (SbxBrokerProcess *self)
{
  siginfo_t info = { 0 };

  /* Only looks: the child watch reaps it. */
  return self->pid != 0 && waitid (P_PID, (id_t) self->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0
         && info.si_pid == 0;
}

void
sbx_broker_process_kill (SbxBrokerProcess *self)
{
  /* Not reaped yet, so the number is still its own. */
  if (self->pid != 0)
    (void) kill (self->pid, SIGKILL);
}

static gboolean
on_gone_already (gpointer user_data)
{
  SbxBrokerProcess *self = user_data;
  void (*gone) (gpointer) = self->gone;

  sbx_source_clear (&self->gone_source);
  gone (self->gone_data);
  return G_SOURCE_REMOVE;
}

void
sbx_broker_process_watch (SbxBrokerProcess *self, void (*gone) (gpointer user_data), gpointer user_data)
{
  sbx_source_clear (&self->gone_source);
  self->gone = gone;
  self->gone_data = user_data;
  if (gone == NULL || self->pid != 0)
    return;
  self->gone_source = sbx_source_soon (on_gone_already, self);
}

/* --- the gate --- */

typedef struct {
  const SbxScopeMaker *maker;
  gpointer maker_self;
  char *turn;
  char *unit;
  pid_t pid;
  guint64 runtime_max_usec;
  guint tries;
  gboolean denied; /* once */
} Gate;

static void
gate_free (gpointer data)
{
  Gate *self = data;

  g_free (self->turn);
  g_free (self->unit);
  g_free (self);
}

static void gate_try (GTask *task);

/* A taken name is tried with another. A denial is tried once more: polkit 122, which systemd asks, now and
 * then says no after 15 s to what the rules allow (src/daemon/guard.c). */
static gboolean
gate_has_another_try (Gate *self, const GError *error)
{
  if (g_error_matches (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NAME_TAKEN))
    return ++self->tries < NAME_TRIES;
  if (!g_error_matches (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_DENIED) || self->denied)
    return FALSE;
  self->denied = TRUE;
  return TRUE;
}

static void
scope_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  g_autoptr (GError) error = NULL;
  Gate *gate = g_task_get_task_data (task);
  gboolean fine = gate->maker->start_finish (result, &error);
  gboolean cancelled = g_cancellable_is_cancelled (g_task_get_cancellable (task));

  /* Around a process that is gone by now systemd may have made a scope that nothing ends: on cgroup v1 it is
   * not told of one that is empty from the beginning. */
  if ((fine && cancelled) || g_error_matches (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NOT_MEMBER)
      || g_error_matches (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_TIMEOUT))
    gate->maker->stop (gate->maker_self, gate->unit);
  if (fine)
    g_task_return_boolean (task, TRUE);
  else if (!cancelled && gate_has_another_try (gate, error))
    gate_try (g_steal_pointer (&task));
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/* Takes the task. */
static void
gate_try (GTask *task)
{
  Gate *gate = g_task_get_task_data (task);
  g_autofree char *name =
    gate->tries == 0 ? g_strdup (gate->turn) : g_strdup_printf ("%sr%u", gate->turn, gate->tries);
  g_autofree char *description = g_strdup_printf ("Broker of sandbox turn %s", gate->turn);
  SbxScopeSpec spec = {
    .description = description,
    .slice = SBX_TURN_SLICE,
    .pid = gate->pid,
    .runtime_max_usec = gate->runtime_max_usec,
    .stop_timeout_usec = STOP_TIMEOUT_USEC,
    .memory_max_bytes = MEMORY_MAX_BYTES,
    .tasks_max = TASKS_MAX,
  };

  g_free (gate->unit);
  gate->unit = g_strdup_printf (SBX_BROKER_SCOPE_FORMAT, name);
  spec.name = gate->unit;
  /* Not cancellable: what systemd has begun must be ended. */
  gate->maker->start_async (gate->maker_self, &spec, NULL, scope_done, task);
}

void
sbx_broker_process_gate_async (SbxBrokerProcess *self, const SbxScopeMaker *maker, gpointer maker_self,
                               const char *turn, guint64 runtime_max_usec, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  Gate *gate = g_new0 (Gate, 1);

  gate->maker = maker;
  gate->maker_self = maker_self;
  gate->turn = g_strdup (turn);
  gate->pid = self->pid;
  gate->runtime_max_usec = runtime_max_usec;
  g_task_set_task_data (task, gate, gate_free);
  if (self->pid == 0)
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_CLOSED,
                               "The broker ended before it had its scope");
      g_object_unref (task);
      return;
    }
  gate_try (task);
}

gboolean
sbx_broker_process_gate_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
