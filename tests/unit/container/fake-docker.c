/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "fake-docker.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/source.h"

typedef struct {
  char *expected;
  GBytes *answer; /* NULL: none */
  FakeFlags flags;
  gboolean begun;
} Step;

typedef struct {
  FakeDocker *docker;
  int fd;
  GSource *source;
  GString *request;
  const Step *step; /* NULL: nothing is asked */
  gsize sent;
} Connection;

/* A step that has begun. */
typedef struct {
  Connection *connection;
  GString *request; /* the connection's, or its own when that went on to another */
} Exchange;

struct _FakeDocker {
  char *dir;
  char *path;
  int fd;
  GSource *source;
  GPtrArray *steps;
  GPtrArray *exchanges;
  GPtrArray *connections;
  Connection *events; /* the last that asked for events; NULL: none */
};

static void
step_free (Step *self)
{
  g_free (self->expected);
  g_clear_pointer (&self->answer, g_bytes_unref);
  g_free (self);
}

static void
connection_close (Connection *self)
{
  sbx_source_clear (&self->source);
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

static void
connection_free (Connection *self)
{
  connection_close (self);
  if (self->step == NULL)
    g_string_free (self->request, TRUE);
  g_free (self);
}

static void
exchange_free (Exchange *self)
{
  g_string_free (self->request, TRUE);
  g_free (self);
}

static gboolean
request_is_whole (Connection *self)
{
  const char *head_end = strstr (self->request->str, "\r\n\r\n");
  const char *length = strstr (self->request->str, "Content-Length: ");

  if (head_end == NULL || (self->step->flags & FAKE_EARLY) != 0)
    return head_end != NULL;
  if (length == NULL || length > head_end)
    return g_str_has_suffix (self->request->str, "\r\n0\r\n\r\n");
  return self->request->len
         >= (gsize) (head_end + 4 - self->request->str) + g_ascii_strtoull (length + 16, NULL, 10);
}

static void connection_read (Connection *self);

static gboolean
on_writable (gint fd, GIOCondition condition, gpointer user_data)
{
  Connection *self = user_data;
  gsize n_bytes = 0;
  const char *data = g_bytes_get_data (self->step->answer, &n_bytes);
  gsize piece = (self->step->flags & FAKE_DRIBBLE) != 0 ? 1 : n_bytes - self->sent;
  ssize_t done = send (fd, data + self->sent, piece, MSG_NOSIGNAL);

  if (done > 0)
    self->sent += (gsize) done;
  if (done >= 0 && self->sent < n_bytes)
    return G_SOURCE_CONTINUE;
  if (done >= 0 && (self->step->flags & FAKE_HOLD) != 0 && g_str_has_prefix (data, "HTTP/1.1 101"))
    sbx_source_clear (&self->source);
  else if (done >= 0 && (self->step->flags & FAKE_HOLD) != 0)
    connection_read (self);
  else
    connection_close (self);
  return G_SOURCE_REMOVE;
}

static gboolean
step_fits (const Step *self, const char *request)
{
  g_autofree char *pattern = g_strconcat (self->expected, "*", NULL);

  return g_pattern_match_simple (pattern, request);
}

/* The first that has not begun, or one that may come at any time and fits. */
static Step *
next_step (FakeDocker *self, const char *request)
{
  Step *first = NULL;

  for (guint i = 0; i < self->steps->len; i++)
    {
      Step *step = g_ptr_array_index (self->steps, i);

      if (step->begun)
        continue;
      if (step_fits (step, request) && (first == NULL || (step->flags & FAKE_ANY_TIME) != 0))
        return step;
      if (first == NULL && (step->flags & FAKE_ANY_TIME) == 0)
        first = step;
    }
  if (first == NULL)
    g_error ("The script has no step for %s", request);
  return first;
}

/* The connection for events is none of the script's steps. */
static void
begin_step (Connection *self)
{
  static const char events[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  FakeDocker *docker = self->docker;
  Exchange *exchange;
  Step *step;

  if (g_str_has_prefix (self->request->str, "GET /v1.41/events?"))
    {
      docker->events = self;
      g_assert_cmpint (send (self->fd, events, strlen (events), MSG_NOSIGNAL), >, 0);
      g_string_truncate (self->request, 0);
      return;
    }
  step = next_step (docker, self->request->str);
  step->begun = TRUE;
  self->step = step;
  exchange = g_new0 (Exchange, 1);
  exchange->connection = self;
  exchange->request = self->request;
  g_ptr_array_add (docker->exchanges, exchange);
}

static gboolean
on_readable (gint fd, GIOCondition condition, gpointer user_data)
{
  Connection *self = user_data;
  char piece[4096];
  ssize_t got = recv (fd, piece, sizeof piece, 0);

  if (got <= 0)
    {
      connection_close (self);
      return G_SOURCE_REMOVE;
    }
  g_string_append_len (self->request, piece, got);
  if (self->step == NULL)
    begin_step (self);
  if (self->step == NULL || !request_is_whole (self))
    return G_SOURCE_CONTINUE;
  g_assert_true (step_fits (self->step, self->request->str));
  if (self->step->answer == NULL)
    return G_SOURCE_CONTINUE;
  sbx_source_clear (&self->source);
  self->source = g_unix_fd_source_new (self->fd, G_IO_OUT);
  g_source_set_callback (self->source, G_SOURCE_FUNC (on_writable), self, NULL);
  g_source_attach (self->source, NULL);
  return G_SOURCE_REMOVE;
}

/* For a request, the first or the next. */
static void
connection_read (Connection *self)
{
  sbx_source_clear (&self->source);
  self->request = g_string_new (NULL);
  self->step = NULL;
  self->sent = 0;
  self->source = g_unix_fd_source_new (self->fd, G_IO_IN);
  g_source_set_callback (self->source, G_SOURCE_FUNC (on_readable), self, NULL);
  g_source_attach (self->source, NULL);
}

static gboolean
on_incoming (gint fd, GIOCondition condition, gpointer user_data)
{
  FakeDocker *self = user_data;
  Connection *connection = g_new0 (Connection, 1);

  connection->docker = self;
  connection->fd = accept4 (fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  g_assert_cmpint (connection->fd, >=, 0);
  g_ptr_array_add (self->connections, connection);
  connection_read (connection);
  return G_SOURCE_CONTINUE;
}

FakeDocker *
fake_docker_new (void)
{
  FakeDocker *self = g_new0 (FakeDocker, 1);
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  self->dir = g_dir_make_tmp ("fake-docker-XXXXXX", NULL);
  self->path = g_build_filename (self->dir, "docker.sock", NULL);
  g_strlcpy (address.sun_path, self->path, sizeof address.sun_path);
  self->fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  g_assert_cmpint (bind (self->fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (self->fd, 8), ==, 0);
  self->steps = g_ptr_array_new_with_free_func ((GDestroyNotify) step_free);
  self->exchanges = g_ptr_array_new_with_free_func ((GDestroyNotify) exchange_free);
  self->connections = g_ptr_array_new_with_free_func ((GDestroyNotify) connection_free);
  self->source = g_unix_fd_source_new (self->fd, G_IO_IN);
  g_source_set_callback (self->source, G_SOURCE_FUNC (on_incoming), self, NULL);
  g_source_attach (self->source, NULL);
  return self;
}

void
fake_docker_free (FakeDocker *self)
{
  for (guint i = 0; i < self->steps->len; i++)
    {
      const Step *step = g_ptr_array_index (self->steps, i);

      g_assert_true (step->begun || (step->flags & FAKE_PERHAPS) != 0);
    }
  sbx_source_clear (&self->source);
  close (self->fd);
  g_ptr_array_unref (self->connections);
  g_ptr_array_unref (self->exchanges);
  g_ptr_array_unref (self->steps);
  g_unlink (self->path);
  g_rmdir (self->dir);
  g_free (self->path);
  g_free (self->dir);
  g_free (self);
}

const char *
fake_docker_path (FakeDocker *self)
{
  return self->path;
}

void
fake_docker_add (FakeDocker *self, const char *expected, const char *answer, gssize n_bytes, FakeFlags flags)
{
  Step *step = g_new0 (Step, 1);

  step->expected = g_strdup (expected);
  if (answer != NULL)
    step->answer = g_bytes_new (answer, n_bytes >= 0 ? (gsize) n_bytes : strlen (answer));
  step->flags = flags;
  g_ptr_array_add (self->steps, step);
}

void
fake_docker_add_json (FakeDocker *self, const char *expected, guint status, const char *body)
{
  g_autofree char *answer = g_strdup_printf ("HTTP/1.1 %u Words\r\nContent-Type: application/json\r\n"
                                             "Content-Length: %" G_GSIZE_FORMAT "\r\n\r\n%s",
                                             status, strlen (body), body);

  fake_docker_add (self, expected, answer, -1, FAKE_CLOSE);
}

static Exchange *
nth (FakeDocker *self, guint n)
{
  g_assert_cmpuint (n, <, self->exchanges->len);
  return g_ptr_array_index (self->exchanges, n);
}

const char *
fake_docker_request (FakeDocker *self, guint n)
{
  return nth (self, n)->request->str;
}

guint
fake_docker_n_requests (FakeDocker *self)
{
  return self->exchanges->len;
}

guint
fake_docker_n_connections (FakeDocker *self)
{
  return self->connections->len;
}

int
fake_docker_fd (FakeDocker *self, guint n)
{
  return nth (self, n)->connection->fd;
}

void
fake_docker_close (FakeDocker *self, guint n)
{
  connection_close (nth (self, n)->connection);
}

void
fake_docker_end_events (FakeDocker *self)
{
  g_assert_nonnull (self->events);
  g_assert_no_errno (shutdown (self->events->fd, SHUT_RDWR));
}

gboolean
fake_docker_tell_event (FakeDocker *self)
{
  static const char event[] = "4\r\n{}\r\n\r\n";

  return self->events != NULL && send (self->events->fd, event, strlen (event), MSG_NOSIGNAL) > 0;
}

void
keep_result (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GAsyncResult **kept = user_data;

  g_assert_null (source);
  g_assert_null (*kept);
  *kept = g_object_ref (result);
}

GAsyncResult *
await_result (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}
