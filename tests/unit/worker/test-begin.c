/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* When a worker begins: at the end of its input, and before that at the line end behind a whole turn. When it
 * ends, with its input still open. */
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>

#define BEGINNING                                                                                            \
  "{\"text\":\"Hello\",\"speaker\":{\"id\":\"a\",\"name\":\"A\"},\"model\":\"m\",\"prompt\":\"p\","
#define REST "\"timeZone\":\"UTC\",\"tools\":[],\"mcp\":[]}"

static const char *worker_program;

typedef struct {
  const char *pieces[3];
  gboolean closed;
} Input;

/* A worker that runs, and the broker that it will call. */
typedef struct {
  char *dir;
  char *path;
  GSocketListener *listener;
  GSubprocess *process;
} Worker;

static void
start (Worker *self)
{
  g_autofree char *socket_option = NULL;
  g_autofree char *workspace_option = NULL;
  g_autoptr (GSocketAddress) address = NULL;
  g_autoptr (GError) error = NULL;

  self->dir = g_dir_make_tmp ("worker-begin-XXXXXX", NULL);
  self->path = g_build_filename (self->dir, "broker.sock", NULL);
  self->listener = g_socket_listener_new ();
  address = g_unix_socket_address_new (self->path);
  g_assert_true (g_socket_listener_add_address (self->listener, address, G_SOCKET_TYPE_STREAM,
                                                G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, &error));
  socket_option = g_strconcat ("--socket=", self->path, NULL);
  workspace_option = g_strconcat ("--workspace=", self->dir, NULL);
  self->process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE
                                      | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                                    &error, worker_program, socket_option, workspace_option, NULL);
  g_assert_no_error (error);
}

static void
give (Worker *self, const char *piece)
{
  g_assert_true (g_output_stream_write_all (g_subprocess_get_stdin_pipe (self->process), piece,
                                            strlen (piece), NULL, NULL, NULL));
}

static void
close_input (Worker *self)
{
  g_assert_true (g_output_stream_close (g_subprocess_get_stdin_pipe (self->process), NULL, NULL));
}

static GSocketConnection *
await_call (Worker *self)
{
  g_autoptr (GError) error = NULL;
  GSocketConnection *connection = g_socket_listener_accept (self->listener, NULL, NULL, &error);

  g_assert_no_error (error);
  return connection;
}

/* It has ended, or is made to. */
static void
clear (Worker *self)
{
  g_autofree char *history = g_build_filename (self->dir, "history.json", NULL);

  g_subprocess_force_exit (self->process);
  g_assert_true (g_subprocess_wait (self->process, NULL, NULL));
  g_object_unref (self->process);
  g_object_unref (self->listener);
  (void) g_unlink (history);
  (void) g_unlink (self->path);
  g_assert_cmpint (g_rmdir (self->dir), ==, 0);
  g_free (self->path);
  g_free (self->dir);
}

/* Gives it the pieces, and waits for its first call. */
static void
test_begin (gconstpointer data)
{
  const Input *input = data;
  g_autoptr (GSocketConnection) connection = NULL;
  Worker worker;

  start (&worker);
  for (gsize i = 0; i < G_N_ELEMENTS (input->pieces) && input->pieces[i] != NULL; i++)
    give (&worker, input->pieces[i]);
  if (input->closed)
    close_input (&worker);
  connection = await_call (&worker);
  clear (&worker);
}

/* The call's answer. The request ends with its body, an object. */
static void
answer_call (Worker *self, const char *status, const char *body)
{
  g_autoptr (GSocketConnection) connection = await_call (self);
  GInputStream *in = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (connection));
  g_autoptr (GString) request = g_string_new (NULL);
  g_autofree char *answer =
    g_strdup_printf ("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n%s",
                     status, strlen (body), body);

  while (!g_str_has_suffix (request->str, "}]}"))
    {
      char piece[4096];
      gssize got = g_input_stream_read (in, piece, sizeof piece, NULL, NULL);

      g_assert_cmpint (got, >, 0);
      g_string_append_len (request, piece, got);
    }
  g_assert_true (g_output_stream_write_all (out, answer, strlen (answer), NULL, NULL, NULL));
}

typedef struct {
  const char *status;
  const char *body;
  const char *reply;
  gboolean closed; /* its input, when the reply has come */
  int exit_status;
} Ending;

/* With its input open: the reply comes first, then its end, at the latest by itself. */
static void
test_end (gconstpointer data)
{
  const Ending *ending = data;
  g_autoptr (GDataInputStream) lines = NULL;
  g_autofree char *line = NULL;
  Worker worker;

  start (&worker);
  give (&worker, BEGINNING REST "\n");
  answer_call (&worker, ending->status, ending->body);
  lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (worker.process));
  line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);
  g_assert_nonnull (line);
  g_assert_true (g_str_has_prefix (line, ending->reply));
  if (ending->closed)
    close_input (&worker);
  g_assert_true (g_subprocess_wait (worker.process, NULL, NULL));
  g_assert_true (g_subprocess_get_if_exited (worker.process));
  g_assert_cmpint (g_subprocess_get_exit_status (worker.process), ==, ending->exit_status);
  clear (&worker);
}

#define FINAL                                                                                                \
  "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}"

int
main (int argc, char **argv)
{
  static const Input line_end = { .pieces = { BEGINNING REST "\n" } };
  static const Input pieces = { .pieces = { BEGINNING "\n", REST, "\n" } };
  static const Input end_of_file = { .pieces = { BEGINNING REST }, .closed = TRUE };

  static const Ending sent_away = { "200 OK", FINAL, "{\"ok\":true,", TRUE, 0 };
  static const Ending left_alone = { "200 OK", FINAL, "{\"ok\":true,", FALSE, 0 };
  static const Ending failed = { "502 Bad Gateway", "{}", "{\"ok\":false,", FALSE, 1 };

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  worker_program = argv[1];
  g_test_add_data_func ("/worker/begin/line-end", &line_end, test_begin);
  g_test_add_data_func ("/worker/begin/pieces", &pieces, test_begin);
  g_test_add_data_func ("/worker/begin/end-of-file", &end_of_file, test_begin);
  g_test_add_data_func ("/worker/end/sent-away", &sent_away, test_end);
  g_test_add_data_func ("/worker/end/left-alone", &left_alone, test_end);
  g_test_add_data_func ("/worker/end/failed", &failed, test_end);
  return g_test_run ();
}
