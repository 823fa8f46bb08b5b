/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/removal.h"

/* While another removal runs: how often it is looked at. */
#define LOOK_AGAIN_MS 100u

typedef struct {
  SbxEngine *engine;
  char *id;
  GCancellable *cancellable;
  guint tries;
  gint64 try_end_usec; /* of waiting for another's removal */
} Removal;

static gboolean on_delete_again (gpointer user_data);
static gboolean on_look_again (gpointer user_data);
static void delete_done (GObject *source, GAsyncResult *result, gpointer user_data);

static void
removal_free (Removal *self)
{
  sbx_engine_unref (self->engine);
  g_clear_object (&self->cancellable);
  g_free (self->id);
  g_free (self);
}

/* The pause's source owns the task; a cancel makes the pause end at once, and the next call then fails as
 * cancelled. */
static void
pause_then (GTask *task, guint pause_ms, GSourceFunc next)
{
  g_autoptr (GSource) timer = g_timeout_source_new (pause_ms);

  if (g_task_get_cancellable (task) != NULL)
    {
      g_autoptr (GSource) cancel = g_cancellable_source_new (g_task_get_cancellable (task));

      g_source_set_dummy_callback (cancel);
      g_source_add_child_source (timer, cancel);
    }
  g_source_set_callback (timer, next, task, NULL);
  g_source_attach (timer, NULL);
}

static void
delete_once (GTask *task)
{
  Removal *self = g_task_get_task_data (task);

  self->tries++;
  self->try_end_usec = g_get_monotonic_time () + (gint64) SBX_REMOVAL_TRY_MS * 1000;
  sbx_engine_container_delete_async (self->engine, self->id, SBX_REMOVAL_TRY_MS, self->cancellable,
                                     delete_done, task);
}

static void
try_failed (GTask *task, GError *error)
{
  Removal *self = g_task_get_task_data (task);

  if (self->tries >= SBX_REMOVAL_TRIES || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_task_return_error (task, error);
      g_object_unref (task);
      return;
    }
  g_error_free (error);
  pause_then (task, self->tries * 100, on_delete_again);
}

static void
gone (GTask *task)
{
  g_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

static void
look_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Removal *self = g_task_get_task_data (task);
  GError *error = NULL;
  g_autoptr (SbxContainerState) state = sbx_engine_container_inspect_finish (result, &error);

  if (g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_NOT_FOUND))
    {
      g_error_free (error);
      gone (task);
    }
  else if (error != NULL)
    {
      try_failed (task, error);
    }
  else if (g_get_monotonic_time () >= self->try_end_usec)
    {
      try_failed (task, g_error_new (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IN_PROGRESS,
                                     "Docker is removing container %s and does not get done.", self->id));
    }
  else
    {
      pause_then (task, LOOK_AGAIN_MS, on_look_again);
    }
}

static gboolean
on_look_again (gpointer user_data)
{
  Removal *self = g_task_get_task_data (user_data);

  sbx_engine_container_inspect_async (self->engine, self->id, SBX_REMOVAL_TRY_MS, self->cancellable,
                                      look_done, user_data);
  return G_SOURCE_REMOVE;
}

static gboolean
on_delete_again (gpointer user_data)
{
  delete_once (user_data);
  return G_SOURCE_REMOVE;
}

static void
delete_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  GError *error = NULL;

  if (sbx_engine_container_delete_finish (result, &error))
    {
      gone (task);
      return;
    }
  if (g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_NOT_FOUND))
    {
      g_error_free (error);
      gone (task);
    }
  else if (g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IN_PROGRESS))
    {
      g_error_free (error);
      pause_then (task, LOOK_AGAIN_MS, on_look_again);
    }
  else
    {
      try_failed (task, error);
    }
}

void
sbx_removal_async (SbxEngine *engine, const char *id, GCancellable *cancellable, GAsyncReadyCallback callback,
                   gpointer user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  Removal *self = g_new0 (Removal, 1);

  g_task_set_check_cancellable (task, FALSE);
  self->engine = sbx_engine_ref (engine);
  self->id = g_strdup (id);
  g_set_object (&self->cancellable, cancellable);
  g_task_set_task_data (task, self, (GDestroyNotify) removal_free);
  delete_once (task);
}

gboolean
sbx_removal_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
