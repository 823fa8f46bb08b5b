/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/http-call.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/source.h"
#include "base/unix-connect.h"
#include "container/http-answer.h"

#define CONNECT_AGAIN_MS 25u
#define PIECE_BYTES      65536u

typedef struct {
  char *socket_path;
  SbxFd fd;
  GSource *source; /* of the socket, or of the next try to connect */
  GSource *timer;
  GCancellable *stop; /* of a body's read that runs */
  GCancellable *cancellable;
  gulong cancelled_id;
  guint timeout_ms;
  SbxHttpPool *pool;
  gboolean repeatable;
  gboolean fresh;  /* a new connection, please */
  gboolean reused; /* the connection comes from the pool */
  gboolean heard;  /* something of the answer has come */
  GBytes *head;    /* of the request */
  GByteArray *out; /* what is to be sent now */
  gsize sent;
  GBytes *body; /* NULL: none */
  gboolean body_is_out;
  GInputStream *stream; /* NULL when the body is all in out */
  gboolean answering;   /* all is sent, or the peer takes no more */
  SbxHttpAnswer *answer;
  guint status;
  gboolean over; /* the task has its result */
} Call;

static gboolean on_connect_again (gpointer user_data);

static void
call_free (Call *self)
{
  sbx_source_clear (&self->source);
  sbx_source_clear (&self->timer);
  sbx_fd_close (self->fd);
  g_clear_object (&self->stop);
  g_clear_object (&self->cancellable);
  g_bytes_unref (self->head);
  g_byte_array_unref (self->out);
  g_clear_pointer (&self->body, g_bytes_unref);
  g_clear_object (&self->stream);
  sbx_http_answer_free (self->answer);
  g_free (self->socket_path);
  g_free (self);
}

/* Ends all activity; the task may then be answered once. */
static void
call_halt (Call *self)
{
  self->over = TRUE;
  sbx_source_clear (&self->source);
  sbx_source_clear (&self->timer);
  sbx_fd_close (g_steal_fd (&self->fd));
  g_cancellable_cancel (self->stop);
  if (self->cancelled_id != 0)
    g_signal_handler_disconnect (self->cancellable, self->cancelled_id);
  self->cancelled_id = 0;
}

static void
fail (GTask *task, GError *error)
{
  g_autoptr (GTask) held = g_object_ref (task);

  call_halt (g_task_get_task_data (task));
  g_task_return_error (task, error);
  g_object_unref (task);
}

static void
fail_errno (GTask *task, const char *what, int code)
{
  fail (task, g_error_new (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN, "Docker cannot be reached: %s: %s.", what,
                           g_strerror (code)));
}

static gboolean
on_timeout (gpointer user_data)
{
  Call *self = g_task_get_task_data (user_data);

  fail (user_data, g_error_new (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN,
                                "Docker did not answer within %u ms.", self->timeout_ms));
  return G_SOURCE_REMOVE;
}

static gboolean
on_cancelled_idle (gpointer user_data)
{
  fail (user_data,
        g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, "The call to Docker was cancelled."));
  return G_SOURCE_REMOVE;
}

/* A signal handler of the caller's g_cancellable_cancel(): the end comes from the main loop, so that the
 * caller is not called back in the middle of its own function. The timer's place is taken, as nothing else
 * may happen any more. */
static void
on_cancelled (GCancellable *cancellable, gpointer user_data)
{
  Call *self = g_task_get_task_data (user_data);

  sbx_source_clear (&self->source);
  sbx_source_clear (&self->timer);
  self->timer = sbx_source_soon (on_cancelled_idle, user_data);
}

/* clean: nothing came behind the answer. */
static void
succeed (GTask *task, gboolean clean)
{
  g_autoptr (GTask) held = g_object_ref (task);
  Call *self = g_task_get_task_data (task);

  if (self->pool != NULL && clean && self->answering && sbx_http_answer_keeps_connection (self->answer))
    {
      sbx_source_clear (&self->source);
      sbx_http_pool_give (self->pool, g_steal_fd (&self->fd));
    }
  call_halt (self);
  self->status = sbx_http_answer_status (self->answer);
  g_task_return_pointer (task, sbx_http_answer_steal_body (self->answer), (GDestroyNotify) g_bytes_unref);
  g_object_unref (task);
}

static void
bad_answer (GTask *task, gboolean ended)
{
  if (ended)
    fail (task, g_error_new_literal (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN,
                                     "Docker closed the connection before its answer was whole."));
  else
    fail (task, g_error_new_literal (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_ANSWER,
                                     "What listens on Docker's socket does not answer as Docker does."));
}

static void start_connect (GTask *task);

/* The pool's connection had ended before anything was answered: dockerd closes none that it has read from. */
static gboolean
try_again (GTask *task)
{
  Call *self = g_task_get_task_data (task);

  if (!self->reused || self->heard || !self->repeatable)
    return FALSE;
  sbx_source_clear (&self->source);
  sbx_fd_close (g_steal_fd (&self->fd));
  /* The others in the pool are no younger. */
  self->fresh = TRUE;
  start_connect (task);
  return TRUE;
}

static void
receive (GTask *task)
{
  Call *self = g_task_get_task_data (task);
  char piece[16384];
  gsize used = 0;
  ssize_t got = recv (self->fd, piece, sizeof piece, 0);
  SbxHttpVerdict verdict;

  if (got < 0)
    {
      int saved_errno = errno;

      if (saved_errno != EAGAIN && saved_errno != EINTR && !try_again (task))
        fail_errno (task, "reading the answer", saved_errno);
      return;
    }
  if (got == 0 && try_again (task))
    return;
  self->heard = TRUE;
  verdict = got == 0 ? sbx_http_answer_end (self->answer)
                     : sbx_http_answer_feed (self->answer, piece, (gsize) got, &used);
  if (verdict == SBX_HTTP_DONE)
    succeed (task, got > 0 && used == (gsize) got);
  else if (verdict == SBX_HTTP_BAD)
    bad_answer (task, got == 0);
}

static void watch (GTask *task, GIOCondition condition);

static void
append_chunk (GByteArray *out, const guint8 *data, gsize n_bytes)
{
  char head[20];

  g_snprintf (head, sizeof head, "%" G_GSIZE_MODIFIER "x\r\n", n_bytes);
  g_byte_array_append (out, (const guint8 *) head, (guint) strlen (head));
  g_byte_array_append (out, data, (guint) n_bytes);
  g_byte_array_append (out, (const guint8 *) "\r\n", 2);
}

static void
on_stream_read (GObject *object, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  Call *self = g_task_get_task_data (task);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) piece = g_input_stream_read_bytes_finish (G_INPUT_STREAM (object), result, &error);

  if (self->over)
    return;
  if (piece == NULL)
    {
      fail (task, g_error_new (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_REFUSED, "The image cannot be read: %s",
                               error->message));
      return;
    }
  g_byte_array_set_size (self->out, 0);
  self->sent = 0;
  append_chunk (self->out, g_bytes_get_data (piece, NULL), g_bytes_get_size (piece));
  if (g_bytes_get_size (piece) == 0)
    g_clear_object (&self->stream);
  watch (task, G_IO_IN | G_IO_OUT);
}

static void
set_out (Call *self, GBytes *bytes)
{
  gsize n_bytes = 0;
  const guint8 *data = g_bytes_get_data (bytes, &n_bytes);

  g_byte_array_set_size (self->out, 0);
  self->sent = 0;
  g_byte_array_append (self->out, data, (guint) n_bytes);
}

/* out is sent. */
static void
send_next (GTask *task)
{
  Call *self = g_task_get_task_data (task);

  if (self->body != NULL && !self->body_is_out)
    {
      self->body_is_out = TRUE;
      set_out (self, self->body);
      return;
    }
  watch (task, G_IO_IN);
  if (self->stream == NULL)
    {
      self->answering = TRUE;
      return;
    }
  g_input_stream_read_bytes_async (self->stream, PIECE_BYTES, G_PRIORITY_DEFAULT, self->stop, on_stream_read,
                                   g_object_ref (task));
}

static void
transmit (GTask *task)
{
  Call *self = g_task_get_task_data (task);
  ssize_t done = send (self->fd, self->out->data + self->sent, self->out->len - self->sent, MSG_NOSIGNAL);

  if (done < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (done < 0 && (errno == EPIPE || errno == ECONNRESET))
    {
      /* dockerd may refuse before it has read the whole body: its answer is still to be read. */
      self->answering = TRUE;
      watch (task, G_IO_IN);
      return;
    }
  if (done < 0)
    {
      fail_errno (task, "sending the request", errno);
      return;
    }
  self->sent += (gsize) done;
  if (self->sent == self->out->len)
    send_next (task);
}

static gboolean
on_socket (int fd, GIOCondition condition, gpointer user_data)
{
  g_autoptr (GTask) task = g_object_ref (user_data);
  Call *self = g_task_get_task_data (task);
  GSource *current = self->source;

  if ((condition & G_IO_OUT) != 0 && !self->answering)
    transmit (task);
  else
    receive (task);
  return self->source == current ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void
watch (GTask *task, GIOCondition condition)
{
  Call *self = g_task_get_task_data (task);

  sbx_source_clear (&self->source);
  self->source = sbx_source_watch_fd (self->fd, condition, G_PRIORITY_DEFAULT, on_socket, task);
}

static void
start_connect (GTask *task)
{
  Call *self = g_task_get_task_data (task);
  g_autoptr (GError) error = NULL;

  sbx_source_clear (&self->source);
  self->answering = self->body_is_out = FALSE;
  set_out (self, self->head);
  self->fd = self->pool != NULL && !self->fresh ? sbx_http_pool_take (self->pool) : -1;
  self->reused = self->fd >= 0;
  if (!self->reused)
    self->fd = sbx_unix_connect (self->socket_path, &error);
  if (self->fd >= 0)
    {
      watch (task, G_IO_OUT);
      return;
    }
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
    {
      fail (task, g_error_new (SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN, "Docker cannot be reached: %s.",
                               error->message));
      return;
    }
  self->source = g_timeout_source_new (CONNECT_AGAIN_MS);
  g_source_set_callback (self->source, on_connect_again, task, NULL);
  g_source_attach (self->source, NULL);
}

static gboolean
on_connect_again (gpointer user_data)
{
  start_connect (user_data);
  return G_SOURCE_REMOVE;
}

static GBytes *
write_head (const SbxHttpRequest *request, gboolean keep)
{
  g_autoptr (GString) head = g_string_new (NULL);

  g_string_append_printf (head, "%s %s HTTP/1.1\r\nHost: docker\r\n%s", request->method, request->path,
                          keep ? "" : "Connection: close\r\n");
  if (request->content_type != NULL)
    g_string_append_printf (head, "Content-Type: %s\r\n", request->content_type);
  if (request->stream != NULL)
    g_string_append (head, "Transfer-Encoding: chunked\r\n");
  else
    g_string_append_printf (head, "Content-Length: %" G_GSIZE_FORMAT "\r\n",
                            request->body != NULL ? g_bytes_get_size (request->body) : 0);
  g_string_append (head, "\r\n");
  return g_string_free_to_bytes (g_steal_pointer (&head));
}

void
sbx_http_call_async (const SbxHttpRequest *request, GCancellable *cancellable, GAsyncReadyCallback callback,
                     gpointer user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  Call *self = g_new0 (Call, 1);

  g_task_set_source_tag (task, sbx_http_call_async);
  g_task_set_check_cancellable (task, FALSE); /* fail() says it, with the call's state put away first */
  g_task_set_task_data (task, self, (GDestroyNotify) call_free);
  self->fd = -1;
  self->socket_path = g_strdup (request->socket_path);
  self->timeout_ms = request->timeout_ms;
  self->stop = g_cancellable_new ();
  self->out = g_byte_array_new ();
  self->answer = sbx_http_answer_new (SBX_ENGINE_MAX_ANSWER);
  self->pool = request->stream == NULL ? request->pool : NULL;
  self->repeatable = request->repeatable;
  self->head = write_head (request, self->pool != NULL);
  if (request->body != NULL && g_bytes_get_size (request->body) > 0)
    self->body = g_bytes_ref (request->body);
  g_set_object (&self->stream, request->stream);

  if (self->timeout_ms > 0)
    {
      self->timer = g_timeout_source_new (self->timeout_ms);
      g_source_set_callback (self->timer, on_timeout, task, NULL);
      g_source_attach (self->timer, NULL);
    }
  if (g_cancellable_is_cancelled (cancellable))
    {
      on_cancelled (cancellable, task);
      return;
    }
  if (cancellable != NULL)
    {
      self->cancellable = g_object_ref (cancellable);
      self->cancelled_id = g_signal_connect (cancellable, "cancelled", G_CALLBACK (on_cancelled), task);
    }
  start_connect (task);
}

GBytes *
sbx_http_call_finish (GAsyncResult *result, guint *ret_status, GError **error)
{
  Call *self = g_task_get_task_data (G_TASK (result));
  GBytes *body = g_task_propagate_pointer (G_TASK (result), error);

  if (body != NULL)
    *ret_status = self->status;
  return body;
}
