/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "cleanup/containers.h"

#include "base/names.h"
#include "container/engine.h"
#include "container/removal.h"

typedef struct {
  SbxSweep *sweep;
  SbxEngine *engine;
  GCancellable *cancellable; /* cancelled when the time is over */
  guint n_pending;
} Run;

typedef struct {
  Run *run;
  char *name;
} Removal;

static gboolean
on_time_over (gpointer user_data)
{
  g_cancellable_cancel (user_data);
  return G_SOURCE_REMOVE;
}

static const char *
reason (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)
           ? "there was no answer in the time that is left for it"
           : error->message;
}

static void
removal_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autofree Removal *removal = user_data;
  g_autofree char *name = removal->name;
  g_autoptr (GError) error = NULL;

  if (sbx_removal_finish (result, &error))
    sbx_sweep_tell (removal->run->sweep, "container", name, NULL);
  else
    sbx_sweep_tell (removal->run->sweep, "container", name, reason (error));
  removal->run->n_pending--;
}

static void
list_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Run *run = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) containers = sbx_engine_container_list_finish (result, &error);

  run->n_pending--;
  if (containers == NULL)
    {
      sbx_sweep_fail (run->sweep, "Docker does not list its containers", reason (error));
      return;
    }
  for (guint i = 0; i < containers->len; i++)
    {
      const SbxContainerInfo *info = g_ptr_array_index (containers, i);
      Removal *removal;

      if (run->sweep->dry_run)
        {
          sbx_sweep_tell (run->sweep, "container", info->name, NULL);
          continue;
        }
      removal = g_new0 (Removal, 1);
      removal->run = run;
      removal->name = g_strdup (info->name);
      run->n_pending++;
      sbx_removal_async (run->engine, info->id, run->cancellable, removal_done, removal);
    }
}

void
sbx_sweep_containers (SbxSweep *self, const char *socket_path, const char *installation)
{
  g_autoptr (SbxEngine) engine = sbx_engine_new (socket_path);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GSource) timer = NULL;
  g_autofree char *label = g_strdup_printf ("%s=%s", SBX_LABEL_INSTALLATION, installation);
  guint64 left_usec = sbx_sweep_time_left (self, G_MAXUINT32);
  Run run = { self, engine, cancellable, 1 };

  if (left_usec == 0)
    {
      sbx_sweep_fail (self, "containers", SBX_SWEEP_NO_TIME);
      return;
    }
  timer = g_timeout_source_new ((guint) (left_usec / 1000 + 1));
  g_source_set_callback (timer, on_time_over, cancellable, NULL);
  g_source_attach (timer, NULL);

  sbx_engine_container_list_async (engine, label, 0, cancellable, list_done, &run);
  while (run.n_pending > 0)
    g_main_context_iteration (NULL, TRUE);
  g_source_destroy (timer);
}
