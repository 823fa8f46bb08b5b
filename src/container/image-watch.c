/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/image-watch.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/names.h"
#include "base/source.h"
#include "base/unix-connect.h"
#include "container/engine-private.h"

#define MAX_HEAD 8192u

struct _SbxImageWatch {
  SbxEngine *engine;
  void (*changed) (gpointer user_data);
  gpointer user_data;
  SbxFd fd;
  GSource *source;
  GString *head; /* of the answer; NULL once it was read, and events come */
  char *name;    /* of what is remembered; NULL: nothing is */
  SbxImage *image;
  guint generation; /* of changes */
  guint n_lost;
  GCancellable *closed; /* cancelled when self is freed */
};

/* A question to Docker. */
typedef struct {
  SbxImageWatch *watch; /* not to be touched once closed is cancelled */
  GCancellable *closed;
  char *name;
  guint generation;
  gboolean watched; /* there was a connection for events when it was sent */
} Question;

static void
question_free (gpointer data)
{
  Question *self = data;

  g_object_unref (self->closed);
  g_free (self->name);
  g_free (self);
}

static SbxImage *
image_copy (const SbxImage *image)
{
  SbxImage *copy = g_new0 (SbxImage, 1);

  copy->id = g_strdup (image->id);
  copy->worker_version = g_strdup (image->worker_version);
  copy->keeps_input = image->keeps_input;
  return copy;
}

static gboolean
is_watching (const SbxImageWatch *self)
{
  return self->fd >= 0 && self->head == NULL;
}

static void
forget (SbxImageWatch *self)
{
  g_clear_pointer (&self->name, g_free);
  g_clear_pointer (&self->image, sbx_image_free);
  self->generation++;
}

static void
disconnect (SbxImageWatch *self)
{
  sbx_source_clear (&self->source);
  sbx_fd_close (g_steal_fd (&self->fd));
  if (self->head != NULL)
    g_string_free (g_steal_pointer (&self->head), TRUE);
}

static void
tell_changed (SbxImageWatch *self)
{
  forget (self);
  if (self->changed != NULL)
    self->changed (self->user_data);
}

/* The head ends somewhere in what came; events may stand behind it already, and are treated as such. */
static gboolean
take_head (SbxImageWatch *self, const char *data, gsize n_bytes, gboolean *ret_event)
{
  const char *end;

  g_string_append_len (self->head, data, (gssize) n_bytes);
  end = strstr (self->head->str, "\r\n\r\n");
  if (end == NULL)
    return self->head->len <= MAX_HEAD;
  if (!g_str_has_prefix (self->head->str, "HTTP/1.1 200"))
    return FALSE;
  *ret_event = end[4] != '\0';
  g_string_free (g_steal_pointer (&self->head), TRUE);
  return TRUE;
}

static gboolean
on_readable (int fd, GIOCondition condition, gpointer user_data)
{
  SbxImageWatch *self = user_data;
  char piece[4096];
  ssize_t got = recv (fd, piece, sizeof piece, 0);
  gboolean watched = is_watching (self);
  gboolean event = watched;

  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (got > 0 && (watched || take_head (self, piece, (gsize) got, &event)))
    {
      if (event)
        tell_changed (self);
      return G_SOURCE_CONTINUE;
    }
  disconnect (self);
  self->generation++;
  self->n_lost += watched ? 1 : 0;
  if (watched)
    tell_changed (self);
  return G_SOURCE_REMOVE;
}

/* Where it cannot connect nothing is remembered, and the next question tries again. */
static void
watch_events (SbxImageWatch *self)
{
  /* {"type":["image"]}; since: what happens while Docker sets the subscription up is told too. */
  g_autofree char *request = g_strdup_printf (
    "GET " SBX_DOCKER_API "/events?since=%" G_GINT64_FORMAT
    "&filters=%%7B%%22type%%22%%3A%%5B%%22image%%22%%5D%%7D HTTP/1.1\r\nHost: docker\r\n\r\n",
    g_get_real_time () / G_USEC_PER_SEC);
  gsize n_bytes = strlen (request);

  if (self->fd >= 0)
    return;
  self->fd = sbx_unix_connect (sbx_engine_socket_path (self->engine), NULL);
  if (self->fd < 0)
    return;
  /* A fresh socket takes so much at once. */
  if (send (self->fd, request, n_bytes, MSG_NOSIGNAL) != (ssize_t) n_bytes)
    {
      disconnect (self);
      return;
    }
  self->head = g_string_new (NULL);
  self->source = sbx_source_watch_fd (self->fd, G_IO_IN, G_PRIORITY_DEFAULT, on_readable, self);
}

SbxImageWatch *
sbx_image_watch_new (SbxEngine *engine, void (*changed) (gpointer user_data), gpointer user_data)
{
  SbxImageWatch *self = g_new0 (SbxImageWatch, 1);

  self->engine = sbx_engine_ref (engine);
  self->changed = changed;
  self->user_data = user_data;
  self->fd = -1;
  self->closed = g_cancellable_new ();
  return self;
}

void
sbx_image_watch_free (SbxImageWatch *self)
{
  if (self == NULL)
    return;
  g_cancellable_cancel (self->closed);
  g_object_unref (self->closed);
  disconnect (self);
  forget (self);
  sbx_engine_unref (self->engine);
  g_free (self);
}

const SbxImage *
sbx_image_watch_known (SbxImageWatch *self, const char *name)
{
  return g_strcmp0 (self->name, name) == 0 ? self->image : NULL;
}

static void
inspect_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  const Question *question = g_task_get_task_data (task);
  GError *error = NULL;
  SbxImage *image = sbx_engine_image_inspect_finish (result, &error);

  if (image == NULL)
    {
      g_task_return_error (task, error);
      return;
    }
  if (!g_cancellable_is_cancelled (question->closed) && question->watched && is_watching (question->watch)
      && question->generation == question->watch->generation)
    {
      SbxImageWatch *self = question->watch;

      g_free (self->name);
      sbx_image_free (self->image);
      self->name = g_strdup (question->name);
      self->image = image_copy (image);
    }
  g_task_return_pointer (task, image, (GDestroyNotify) sbx_image_free);
}

void
sbx_image_watch_ask_async (SbxImageWatch *self, const char *name, GCancellable *cancellable,
                           GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  const SbxImage *known = sbx_image_watch_known (self, name);
  Question *question;

  if (known != NULL)
    {
      g_task_return_pointer (task, image_copy (known), (GDestroyNotify) sbx_image_free);
      return;
    }
  watch_events (self);
  question = g_new0 (Question, 1);
  question->watch = self;
  question->closed = g_object_ref (self->closed);
  question->name = g_strdup (name);
  question->generation = self->generation;
  question->watched = self->fd >= 0;
  g_task_set_task_data (task, question, question_free);
  sbx_engine_image_inspect_async (self->engine, name, 0, cancellable, inspect_done, g_object_ref (task));
}

void
sbx_image_watch_start (SbxImageWatch *self, const char *name)
{
  sbx_image_watch_ask_async (self, name, NULL, NULL, NULL);
}

SbxImage *
sbx_image_watch_ask_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

guint
sbx_image_watch_n_lost (const SbxImageWatch *self)
{
  return self->n_lost;
}
