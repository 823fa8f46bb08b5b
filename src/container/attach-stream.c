/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/attach-stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/names.h"
#include "base/source.h"
#include "base/task-guard.h"
#include "base/unix-connect.h"
#include "container/engine-private.h"
#include "container/http-call.h"

#define MAX_HEAD         8192u
#define MAX_REFUSAL      4096u
#define CONNECT_AGAIN_MS 25u
#define WRITE_TIMEOUT_MS 10000u

/* One operation on the socket, opening or writing: a task with a deadline that may be cancelled. */
typedef struct {
  SbxFd fd;
  GSource *source;
  SbxTaskGuard guard;
  guint timeout_ms;
  /* opening */
  SbxEngine *engine; /* NULL: writing */
  GString *request;
  gsize sent;
  GString *head;
  gboolean refused; /* the head is whole and is not 101: its body is being collected */
  gsize head_end;
  /* writing */
  GBytes *turn;
  gboolean end_input;
} Operation;

static void
operation_halt (Operation *self)
{
  sbx_source_clear (&self->source);
  sbx_task_guard_disarm (&self->guard);
}

static void
operation_free (Operation *self)
{
  operation_halt (self);
  sbx_fd_close (self->fd);
  g_clear_pointer (&self->engine, sbx_engine_unref);
  if (self->request != NULL)
    g_string_free (self->request, TRUE);
  if (self->head != NULL)
    g_string_free (self->head, TRUE);
  g_clear_pointer (&self->turn, g_bytes_unref);
  g_free (self);
}

static void
fail (GTask *task, GError *error)
{
  operation_halt (g_task_get_task_data (task));
  g_task_return_error (task, error);
  g_object_unref (task);
}

static void
fail_down (GTask *task, const char *what, int code)
{
  fail (task, g_error_new (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN, "The container's stream broke: %s: %s.",
                           what, code != 0 ? g_strerror (code) : "end of file"));
}

static void
on_over (gpointer user_data, gboolean cancelled)
{
  Operation *self = g_task_get_task_data (user_data);

  if (cancelled)
    fail (user_data, g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                          "Attaching to the container was cancelled."));
  else if (self->engine != NULL)
    fail (user_data, g_error_new (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN,
                                  "Docker did not attach within %u ms.", self->timeout_ms));
  else
    fail (user_data, g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                                  "The worker did not read its turn within %u ms.", self->timeout_ms));
}

static GTask *
operation_new (guint timeout_ms, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  Operation *self = g_new0 (Operation, 1);

  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, self, (GDestroyNotify) operation_free);
  self->fd = -1;
  self->timeout_ms = timeout_ms;
  sbx_task_guard_arm (&self->guard, timeout_ms, cancellable, on_over, task);
  return task;
}

static void
watch (GTask *task, GIOCondition condition, GUnixFDSourceFunc callback)
{
  Operation *self = g_task_get_task_data (task);

  sbx_source_clear (&self->source);
  self->source = sbx_source_watch_fd (self->fd, condition, G_PRIORITY_DEFAULT, callback, task);
}

/* --- opening --- */

static void
fail_refused (GTask *task)
{
  Operation *self = g_task_get_task_data (task);
  /* "HTTP/1.1 404 Not Found", checked when the head was whole; the body is Docker's message, or a part of it.
   */
  guint status = (guint) g_ascii_strtoull (self->head->str + 9, NULL, 10);
  const char *start = strchr (self->head->str + self->head_end, '{');
  const char *end = strrchr (self->head->str + self->head_end, '}');
  g_autoptr (GBytes) body = NULL;
  GError *error = NULL;

  body = start != NULL && end != NULL && end > start ? g_bytes_new (start, (gsize) (end - start) + 1)
                                                     : g_bytes_new_static ("{}", 2);
  sbx_engine_set_error (&error, SBX_ENGINE_ABOUT_CONTAINER, status, body);
  fail (task, error);
}

static void
head_is_whole (GTask *task)
{
  Operation *self = g_task_get_task_data (task);
  const char *head = self->head->str;

  if (!g_str_has_prefix (head, "HTTP/1.1 ") || self->head->len < 12)
    {
      fail (task, g_error_new_literal (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_ANSWER,
                                       "What listens on Docker's socket does not answer as Docker does."));
      return;
    }
  if (g_str_has_prefix (head, "HTTP/1.1 101"))
    {
      operation_halt (self);
      g_task_return_int (task, g_steal_fd (&self->fd));
      g_object_unref (task);
      return;
    }
  self->head_end = self->head->len;
  self->refused = TRUE;
}

static void
read_refusal (GTask *task)
{
  Operation *self = g_task_get_task_data (task);
  char piece[MAX_REFUSAL];
  ssize_t got = recv (self->fd, piece, sizeof piece, 0);

  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (got > 0)
    g_string_append_len (self->head, piece, got);
  if (got <= 0 || self->head->len - self->head_end > MAX_REFUSAL)
    fail_refused (task);
}

/* Looks first and takes only what belongs to the head: the bytes behind it are the guest's, and not ours to
 * read. */
static void
read_head (GTask *task)
{
  Operation *self = g_task_get_task_data (task);
  char piece[1024];
  gsize before = self->head->len;
  gsize take = 0;
  const char *end = NULL;
  ssize_t seen = recv (self->fd, piece, sizeof piece, MSG_PEEK);

  if (seen < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (seen <= 0 || before + (gsize) seen > MAX_HEAD)
    {
      fail_down (task, "reading the answer's head", seen < 0 ? errno : 0);
      return;
    }
  g_string_append_len (self->head, piece, seen);
  end = g_strstr_len (self->head->str + (before > 3 ? before - 3 : 0), -1, "\r\n\r\n");
  if (end != NULL)
    g_string_truncate (self->head, (gsize) (end - self->head->str) + 4);
  take = self->head->len - before;
  if (recv (self->fd, piece, take, 0) != (ssize_t) take)
    fail_down (task, "reading the answer's head", EIO);
  else if (end != NULL)
    head_is_whole (task);
}

static gboolean
on_open_readable (int fd, GIOCondition condition, gpointer user_data)
{
  g_autoptr (GTask) task = g_object_ref (user_data);
  Operation *self = g_task_get_task_data (task);

  if (self->refused)
    read_refusal (task);
  else
    read_head (task);
  return self->source != NULL ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static gboolean
on_open_writable (int fd, GIOCondition condition, gpointer user_data)
{
  g_autoptr (GTask) task = g_object_ref (user_data);
  Operation *self = g_task_get_task_data (task);
  ssize_t done =
    send (self->fd, self->request->str + self->sent, self->request->len - self->sent, MSG_NOSIGNAL);

  if (done < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (done < 0)
    {
      fail_down (task, "sending the request", errno);
      return G_SOURCE_REMOVE;
    }
  self->sent += (gsize) done;
  if (self->sent < self->request->len)
    return G_SOURCE_CONTINUE;
  watch (task, G_IO_IN, on_open_readable);
  return G_SOURCE_REMOVE;
}

static gboolean
on_connect (gpointer user_data)
{
  GTask *task = user_data;
  Operation *self = g_task_get_task_data (task);
  g_autoptr (GError) error = NULL;

  sbx_source_clear (&self->source);
  self->fd = sbx_unix_connect (sbx_engine_socket_path (self->engine), &error);
  if (self->fd >= 0)
    {
      watch (task, G_IO_OUT, on_open_writable);
    }
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
    {
      self->source = g_timeout_source_new (CONNECT_AGAIN_MS);
      g_source_set_callback (self->source, on_connect, task, NULL);
      g_source_attach (self->source, NULL);
    }
  else
    {
      fail (task, g_error_new (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN, "Docker cannot be reached: %s.",
                               error->message));
    }
  return G_SOURCE_REMOVE;
}

void
sbx_attach_open_async (SbxEngine *engine, const char *id, guint timeout_ms, GCancellable *cancellable,
                       GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task = operation_new (timeout_ms > 0 ? timeout_ms : SBX_ENGINE_DEFAULT_TIMEOUT_MS, cancellable,
                               callback, user_data);
  Operation *self = g_task_get_task_data (task);
  g_autofree char *escaped = g_uri_escape_string (id, NULL, FALSE);

  self->engine = sbx_engine_ref (engine);
  self->head = g_string_new (NULL);
  self->request = g_string_new (NULL);
  g_string_append_printf (self->request,
                          "POST " SBX_DOCKER_API
                          "/containers/%s/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\n"
                          "Host: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n",
                          escaped);
  on_connect (task);
}

int
sbx_attach_open_finish (GAsyncResult *result, GError **error)
{
  return (int) g_task_propagate_int (G_TASK (result), error);
}

/* --- writing --- */

static gboolean
on_turn_writable (int fd, GIOCondition condition, gpointer user_data)
{
  GTask *task = user_data;
  Operation *self = g_task_get_task_data (task);
  gsize n_bytes = 0;
  const guint8 *data = g_bytes_get_data (self->turn, &n_bytes);
  ssize_t done = 0;

  if (self->sent < n_bytes)
    done = send (self->fd, data + self->sent, n_bytes - self->sent, MSG_NOSIGNAL);
  if (done < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (done < 0)
    {
      int code = errno;

      fail (task, g_error_new (G_IO_ERROR, (gint) g_io_error_from_errno (code),
                               "The turn cannot be written to the worker: %s.", g_strerror (code)));
      return G_SOURCE_REMOVE;
    }
  self->sent += (gsize) done;
  if (self->sent < n_bytes)
    return G_SOURCE_CONTINUE;

  if (self->end_input)
    sbx_attach_end_input (self->fd);
  operation_halt (self);
  g_task_return_boolean (task, TRUE);
  g_object_unref (task);
  return G_SOURCE_REMOVE;
}

void
sbx_attach_write_async (int fd, GBytes *turn, gboolean end_input, guint timeout_ms, GCancellable *cancellable,
                        GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task =
    operation_new (timeout_ms > 0 ? timeout_ms : WRITE_TIMEOUT_MS, cancellable, callback, user_data);
  Operation *self = g_task_get_task_data (task);

  self->turn = g_bytes_ref (turn);
  self->end_input = end_input;
  self->fd = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  if (self->fd < 0)
    {
      int code = errno;

      fail (task, g_error_new (G_IO_ERROR, (gint) g_io_error_from_errno (code), "The container's stream: %s.",
                               g_strerror (code)));
      return;
    }
  watch (task, G_IO_OUT, on_turn_writable);
}

gboolean
sbx_attach_write_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

void
sbx_attach_end_input (int fd)
{
  (void) shutdown (fd, SHUT_WR);
}
