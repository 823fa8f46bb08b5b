/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/wiper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/log.h"
#include "base/names.h"
#include "base/source.h"
#include "container/removal.h"
#include "container/spec.h"

#define MARK        ".purge-"
#define HASH_DIGITS 64u
/* A full workspace of small files takes seconds. */
#define WIPE_MSEC    120000u
#define MEMORY_BYTES (G_GUINT64_CONSTANT (128) * 1024 * 1024)
#define PIDS         8

G_DEFINE_QUARK (sbx - wiper - error - quark, sbx_wiper_error)

struct _SbxWiper {
  SbxTurnContext *context;
  GQueue jobs; /* of GTask; the first is under way */
  GSource *next_source;
};

typedef struct {
  SbxWiper *wiper; /* NULL once that is freed */
  char *path;
  char *id; /* of the container: its label and its name's end */
  char *container;
  gboolean fallback_image;
  GCancellable *cancellable;
  SbxDeadline *deadline;
  GError *error; /* the first */
} Job;

static void
job_free (gpointer data)
{
  Job *self = data;

  sbx_deadline_free (self->deadline);
  g_object_unref (self->cancellable);
  g_clear_error (&self->error);
  g_free (self->path);
  g_free (self->id);
  g_free (self->container);
  g_free (self);
}

SbxWiper *
sbx_wiper_new (SbxTurnContext *context)
{
  SbxWiper *self = g_new0 (SbxWiper, 1);

  self->context = context;
  g_queue_init (&self->jobs);
  return self;
}

void
sbx_wiper_free (SbxWiper *self)
{
  GTask *task;

  if (self == NULL)
    return;
  while ((task = g_queue_pop_head (&self->jobs)) != NULL)
    {
      Job *job = g_task_get_task_data (task);

      job->wiper = NULL;
      g_cancellable_cancel (job->cancellable);
      if (job->deadline == NULL)
        g_task_return_new_error (task, SBX_WIPER_ERROR, SBX_WIPER_ERROR_LATER,
                                 "The service is being stopped; it is wiped at its next start");
      g_object_unref (task);
    }
  sbx_source_clear (&self->next_source);
  g_free (self);
}

gboolean
sbx_wiper_is_live (SbxWiper *self, const char *id)
{
  for (GList *link = self->jobs.head; link != NULL; link = link->next)
    if (strcmp (((Job *) g_task_get_task_data (link->data))->id, id) == 0)
      return TRUE;
  return FALSE;
}

/* --- one job --- */

static void job_begin (GTask *task);

static gboolean
on_next (gpointer user_data)
{
  SbxWiper *self = user_data;

  g_clear_pointer (&self->next_source, g_source_unref);
  if (self->jobs.head != NULL)
    job_begin (self->jobs.head->data);
  return G_SOURCE_REMOVE;
}

static void
next_soon (SbxWiper *self)
{
  if (self->next_source != NULL)
    return;
  self->next_source = g_idle_source_new ();
  g_source_set_callback (self->next_source, on_next, self, NULL);
  g_source_attach (self->next_source, NULL);
}

/* Takes over task, and error. */
static void
job_end (GTask *task, GError *error)
{
  Job *job = g_task_get_task_data (task);
  SbxWiper *wiper = job->wiper;

  g_clear_pointer (&job->deadline, sbx_deadline_free);
  if (error == NULL && rmdir (job->path) < 0 && errno != ENOENT)
    {
      int saved_errno = errno;

      error = g_error_new (SBX_WIPER_ERROR, SBX_WIPER_ERROR_LATER, "Cannot remove %s: %s", job->path,
                           g_strerror (saved_errno));
    }
  if (error == NULL)
    g_task_return_boolean (task, TRUE);
  else
    {
      sbx_log_event (SBX_LOG_ID_CLEANUP_FAILED, LOG_ERR, &(SbxLogFields){ .container = job->container },
                     "%s is to be deleted, and is tried again: %s", job->path, error->message);
      g_task_return_new_error (task, SBX_WIPER_ERROR, SBX_WIPER_ERROR_LATER, "%s", error->message);
      g_error_free (error);
    }
  if (wiper != NULL)
    {
      g_queue_remove (&wiper->jobs, task);
      g_object_unref (task);
      next_soon (wiper);
    }
  g_object_unref (task);
}

static void
removal_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Job *job = g_task_get_task_data (task);
  GError *error = g_steal_pointer (&job->error);

  /* One that stays is the sweep's: it carries our label, and its id is not live any more. */
  (void) sbx_removal_finish (result, error == NULL ? &error : NULL);
  job_end (task, error);
}

/* Takes over error; NULL: the workspace is empty. */
static void
job_remove_container (GTask *task, GError *error)
{
  Job *job = g_task_get_task_data (task);

  job->error = error;
  if (job->wiper == NULL)
    {
      /* The daemon goes; its last sweep, or the next one's first, removes the container. */
      job_end (task, g_steal_pointer (&job->error));
      return;
    }
  sbx_removal_async (job->wiper->context->engine, job->container, NULL, removal_done, task);
}

static void
wait_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  GError *error = NULL;
  gint64 status = -1;

  if (sbx_engine_container_wait_finish (result, &status, &error) && status != 0)
    error = g_error_new (SBX_WIPER_ERROR, SBX_WIPER_ERROR_LATER, "The wipe container ended with status %d",
                         (int) status);
  job_remove_container (task, error);
}

static void
start_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Job *job = g_task_get_task_data (task);
  GError *error = NULL;

  if (!sbx_engine_container_start_finish (result, &error) || job->wiper == NULL)
    job_remove_container (task, error);
  else
    sbx_engine_container_wait_async (job->wiper->context->engine, job->container, WIPE_MSEC, job->cancellable,
                                     wait_done, task);
}

static void
create_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Job *job = g_task_get_task_data (task);
  GError *error = NULL;
  g_autofree char *id = sbx_engine_container_create_finish (result, &error);

  if (id == NULL || job->wiper == NULL)
    job_remove_container (task, error);
  else
    sbx_engine_container_start_async (job->wiper->context->engine, job->container, 0, job->cancellable,
                                      start_done, task);
}

static void
create (GTask *task)
{
  static const char *const command[] = { SBX_WORKER_PROGRAM, "--wipe", NULL };
  Job *job = g_task_get_task_data (task);
  const SbxTurnContext *context = job->wiper->context;
  g_autofree char *name = g_path_get_basename (job->path);
  g_autofree char *hash = g_strndup (name, HASH_DIGITS);
  const SbxContainerSpec spec = {
    .image = job->fallback_image ? SBX_WORKER_IMAGE : context->settings->config->image,
    .installation = context->installation,
    .channel = hash,
    .turn = job->id,
    .uid = context->worker_uid,
    .gid = context->worker_gid,
    .memory_bytes = MEMORY_BYTES,
    .nano_cpus = G_USEC_PER_SEC * 1000,
    .pids = PIDS,
    .workspace = job->path,
    .command = command,
  };
  GError *error = NULL;
  g_autofree char *body = sbx_container_spec_to_json (&spec, &error);

  if (body == NULL)
    {
      job_end (task, error);
      return;
    }
  job->container = sbx_container_name (hash, g_random_int ());
  /* Not cancellable: a container that is made behind its removal would stay. */
  sbx_engine_container_create_async (context->engine, job->container, body, 0, NULL, create_done, task);
}

static void
image_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Job *job = g_task_get_task_data (task);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxImage) image = sbx_engine_image_inspect_finish (result, &error);

  if (job->wiper == NULL)
    job_end (task, g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, "The service is being stopped"));
  else if (image != NULL && image->worker_version != NULL)
    create (task);
  else if (!job->fallback_image
           && (image != NULL || g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IMAGE_MISSING)))
    {
      /* An operator's own image need not be able to do it. */
      job->fallback_image = TRUE;
      sbx_engine_image_inspect_async (job->wiper->context->engine, SBX_WORKER_IMAGE, 0, job->cancellable,
                                      image_done, task);
    }
  else if (error == NULL || error->code == SBX_ENGINE_ERROR_IMAGE_MISSING)
    job_end (task, g_error_new (SBX_WIPER_ERROR, SBX_WIPER_ERROR_LATER,
                                "It takes the image %s, which is not there; make it with \"sandboxctl image "
                                "build\"",
                                SBX_WORKER_IMAGE));
  else
    job_end (task, g_steal_pointer (&error));
}

static void
on_late (gpointer user_data)
{
  g_cancellable_cancel (((Job *) g_task_get_task_data (user_data))->cancellable);
}

static void
job_begin (GTask *task)
{
  Job *job = g_task_get_task_data (task);

  job->deadline = sbx_deadline_new (WIPE_MSEC, on_late, task);
  sbx_engine_image_inspect_async (job->wiper->context->engine, job->wiper->context->settings->config->image,
                                  0, job->cancellable, image_done, g_object_ref (task));
}

static void
job_add (SbxWiper *self, const char *path, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task = g_task_new (NULL, NULL, callback, user_data);
  Job *job = g_new0 (Job, 1);

  job->wiper = self;
  job->path = g_strdup (path);
  job->id = g_strdup_printf ("wipe%08x%04x", g_random_int (), (guint) g_random_int_range (0, 0x10000));
  job->cancellable = g_cancellable_new ();
  g_task_set_task_data (task, job, job_free);
  g_queue_push_tail (&self->jobs, task);
  next_soon (self);
}

/* --- what to wipe --- */

void
sbx_wiper_purge_async (SbxWiper *self, const char *channel_hash, GAsyncReadyCallback callback,
                       gpointer user_data)
{
  g_autofree char *path = g_build_filename (self->context->workspaces_root, channel_hash, NULL);
  g_autofree char *aside = g_strdup_printf ("%s" MARK "%08x", path, g_random_int ());

  if (rename (path, aside) == 0)
    {
      job_add (self, aside, callback, user_data);
      return;
    }
  if (errno == ENOENT)
    {
      g_autoptr (GTask) task = g_task_new (NULL, NULL, callback, user_data);

      g_task_return_boolean (task, TRUE);
      return;
    }
  g_task_report_new_error (NULL, callback, user_data, NULL, SBX_WIPER_ERROR, SBX_WIPER_ERROR_IO,
                           "Cannot set the workspace %s aside: %s", path, g_strerror (errno));
}

gboolean
sbx_wiper_purge_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static gboolean
is_aside (const char *name)
{
  return strspn (name, "0123456789abcdef") == HASH_DIGITS && g_str_has_prefix (name + HASH_DIGITS, MARK);
}

static gboolean
is_under_way (SbxWiper *self, const char *path)
{
  for (GList *link = self->jobs.head; link != NULL; link = link->next)
    if (strcmp (((Job *) g_task_get_task_data (link->data))->path, path) == 0)
      return TRUE;
  return FALSE;
}

void
sbx_wiper_resume (SbxWiper *self)
{
  const char *root = self->context->workspaces_root;
  g_autoptr (GDir) directory = g_dir_open (root, 0, NULL);
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *path = g_build_filename (root, name, NULL);

      if (is_aside (name) && !is_under_way (self, path))
        job_add (self, path, NULL, NULL);
    }
}
