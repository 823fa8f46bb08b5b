/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/sweep.h"

#include <string.h>

#include "base/log.h"
#include "base/names.h"
#include "container/removal.h"
#include "turn/run-dir.h"

#define CALL_MSEC    5000u
#define SCOPE_PREFIX "sandboxd-turn-"
#define ID_BYTES     16u

struct _SbxSweep {
  SbxEngine *engine;
  char *installation;
  char *run_root;
  gboolean (*is_live) (const char *turn, gpointer user_data);
  gpointer live_data;
  GCancellable *cancellable;
  guint n_pending; /* calls under way; 0: no sweep runs */
  gboolean clean;
  void (*done) (gboolean clean, gpointer user_data);
  gpointer done_data;
};

/* A call of the sweep: self is not to be touched when the sweep was freed, which cancels. */
typedef struct {
  SbxSweep *sweep;
  SbxUnits *units;
  char *name;
  GCancellable *cancellable;
} Step;

static Step *
step_new (SbxSweep *sweep, SbxUnits *units, const char *name)
{
  Step *self = g_new0 (Step, 1);

  self->sweep = sweep;
  self->units = units;
  self->name = g_strdup (name);
  self->cancellable = g_object_ref (sweep->cancellable);
  sweep->n_pending++;
  return self;
}

static void
step_free (Step *self)
{
  g_object_unref (self->cancellable);
  g_free (self->name);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Step, step_free)

static gboolean
step_is_over (Step *self)
{
  return g_cancellable_is_cancelled (self->cancellable);
}

static void
sweep_directories (SbxSweep *self)
{
  g_autoptr (GDir) directory = g_dir_open (self->run_root, 0, NULL);
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *path = g_build_filename (self->run_root, name, NULL);
      g_autoptr (GError) error = NULL;

      if (!g_str_has_prefix (name, SBX_TURN_DIR_PREFIX)
          || self->is_live (name + strlen (SBX_TURN_DIR_PREFIX), self->live_data))
        continue;
      if (sbx_run_dir_remove (path, &error))
        sbx_log_event (SBX_LOG_ID_SWEEP_REMOVED, LOG_NOTICE, NULL, "Removed what was left: %s", path);
      else
        {
          self->clean = FALSE;
          sbx_log (LOG_WARNING, NULL, "%s", error->message);
        }
    }
}

static void
step_end (Step *self)
{
  SbxSweep *sweep = self->sweep;
  void (*done) (gboolean, gpointer);

  if (--sweep->n_pending > 0)
    return;
  /* Last, since a container that is gone holds no directory. */
  sweep_directories (sweep);
  done = g_steal_pointer (&sweep->done);
  if (done != NULL)
    done (sweep->clean, sweep->done_data);
}

static void
scope_kill_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (Step) self = user_data;
  g_autoptr (GError) error = NULL;
  gboolean fine = sbx_units_do_finish (result, &error);

  if (step_is_over (self))
    return;
  if (fine)
    sbx_log_event (SBX_LOG_ID_SWEEP_REMOVED, LOG_NOTICE, NULL, "Ended what was left: %s", self->name);
  else if (!g_error_matches (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NO_UNIT))
    {
      self->sweep->clean = FALSE;
      sbx_log (LOG_WARNING, NULL, "Cannot end %s: %s", self->name, error->message);
    }
  step_end (self);
}

static gboolean
scope_is_live (SbxSweep *self, const char *name)
{
  g_autofree char *id = g_strndup (name + MIN (strlen (name), strlen (SCOPE_PREFIX)), ID_BYTES);

  return self->is_live (id, self->live_data);
}

/* One more of *n, unless that is too much at once. */
static gboolean
sweep_takes (SbxSweep *self, guint *n)
{
  if (++*n <= SBX_SWEEP_MAX)
    return TRUE;
  self->clean = FALSE;
  return FALSE;
}

static void
scopes_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (Step) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) units = sbx_units_list_finish (result, &error);
  guint n = 0;

  if (step_is_over (self))
    return;
  if (units == NULL)
    {
      self->sweep->clean = FALSE;
      sbx_log (LOG_WARNING, NULL, "Cannot list the scopes of brokers: %s", error->message);
    }
  for (guint i = 0; units != NULL && i < units->len; i++)
    {
      const SbxUnitInfo *unit = units->pdata[i];

      if (!scope_is_live (self->sweep, unit->name) && sweep_takes (self->sweep, &n))
        sbx_units_do_async (self->units, SBX_UNITS_KILL, unit->name, CALL_MSEC, self->cancellable,
                            scope_kill_done, step_new (self->sweep, self->units, unit->name));
    }
  step_end (self);
}

static void
removal_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (Step) self = user_data;
  g_autoptr (GError) error = NULL;
  gboolean fine = sbx_removal_finish (result, &error);
  const SbxLogFields fields = { .container = self->name };

  if (step_is_over (self))
    return;
  if (fine)
    sbx_log_event (SBX_LOG_ID_SWEEP_REMOVED, LOG_NOTICE, &fields, "Removed what was left: container %s",
                   self->name);
  else
    {
      self->sweep->clean = FALSE;
      sbx_log_event (SBX_LOG_ID_CLEANUP_FAILED, LOG_WARNING, &fields, "Cannot remove the container %s: %s",
                     self->name, error->message);
    }
  step_end (self);
}

static void
containers_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (Step) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) containers = sbx_engine_container_list_finish (result, &error);
  guint n = 0;

  if (step_is_over (self))
    return;
  if (containers == NULL)
    {
      self->sweep->clean = FALSE;
      sbx_log (LOG_WARNING, NULL, "Cannot look for containers that were left: %s", error->message);
    }
  for (guint i = 0; containers != NULL && i < containers->len; i++)
    {
      const SbxContainerInfo *container = containers->pdata[i];
      const char *turn = g_hash_table_lookup (container->labels, SBX_LABEL_TURN);

      if ((turn == NULL || !self->sweep->is_live (turn, self->sweep->live_data))
          && sweep_takes (self->sweep, &n))
        sbx_removal_async (self->sweep->engine, container->id, self->cancellable, removal_done,
                           step_new (self->sweep, NULL, container->name));
    }
  step_end (self);
}

SbxSweep *
sbx_sweep_new (SbxEngine *engine, const char *installation, const char *run_root,
               gboolean (*is_live) (const char *turn, gpointer user_data), gpointer user_data)
{
  SbxSweep *self = g_new0 (SbxSweep, 1);

  self->engine = sbx_engine_ref (engine);
  self->installation = g_strdup (installation);
  self->run_root = g_strdup (run_root);
  self->is_live = is_live;
  self->live_data = user_data;
  self->cancellable = g_cancellable_new ();
  return self;
}

void
sbx_sweep_free (SbxSweep *self)
{
  if (self == NULL)
    return;
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  sbx_engine_unref (self->engine);
  g_free (self->installation);
  g_free (self->run_root);
  g_free (self);
}

void
sbx_sweep_run (SbxSweep *self, SbxUnits *units, void (*done) (gboolean clean, gpointer user_data),
               gpointer user_data)
{
  g_autofree char *label = g_strdup_printf (SBX_LABEL_INSTALLATION "=%s", self->installation);

  self->done = done;
  self->done_data = user_data;
  if (self->n_pending > 0)
    return;
  self->clean = TRUE;
  /* Brokers first: dockerd blocks on one that does not read. */
  if (units != NULL)
    sbx_units_list_async (units, SBX_BROKER_SCOPE_GLOB, CALL_MSEC, self->cancellable, scopes_done,
                          step_new (self, units, NULL));
  sbx_engine_container_list_async (self->engine, label, CALL_MSEC, self->cancellable, containers_done,
                                   step_new (self, NULL, NULL));
}
