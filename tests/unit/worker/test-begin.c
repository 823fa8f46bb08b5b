/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* When a worker begins: at the end of its input, and before that at the line end behind a whole turn. */
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

/* Starts a worker, gives it the pieces, and waits for its first call. */
static void
test_begin (gconstpointer data)
{
  const Input *input = data;
  g_autofree char *dir = g_dir_make_tmp ("worker-begin-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, "broker.sock", NULL);
  g_autofree char *history = g_build_filename (dir, "history.json", NULL);
  g_autofree char *socket_option = g_strconcat ("--socket=", path, NULL);
  g_autofree char *workspace_option = g_strconcat ("--workspace=", dir, NULL);
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  g_autoptr (GSocketConnection) connection = NULL;
  g_autoptr (GSubprocess) worker = NULL;
  g_autoptr (GError) error = NULL;
  GOutputStream *stdin_pipe;

  g_assert_true (g_socket_listener_add_address (listener, address, G_SOCKET_TYPE_STREAM,
                                                G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, &error));
  worker = g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE
                               | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                             &error, worker_program, socket_option, workspace_option, NULL);
  g_assert_no_error (error);
  stdin_pipe = g_subprocess_get_stdin_pipe (worker);
  for (gsize i = 0; i < G_N_ELEMENTS (input->pieces) && input->pieces[i] != NULL; i++)
    g_assert_true (
      g_output_stream_write_all (stdin_pipe, input->pieces[i], strlen (input->pieces[i]), NULL, NULL, NULL));
  if (input->closed)
    g_assert_true (g_output_stream_close (stdin_pipe, NULL, NULL));

  connection = g_socket_listener_accept (listener, NULL, NULL, &error);
  g_assert_no_error (error);
  g_subprocess_force_exit (worker);
  g_assert_true (g_subprocess_wait (worker, NULL, NULL));
  (void) g_unlink (history);
  (void) g_unlink (path);
  g_assert_cmpint (g_rmdir (dir), ==, 0);
}

int
main (int argc, char **argv)
{
  static const Input line_end = { .pieces = { BEGINNING REST "\n" } };
  static const Input pieces = { .pieces = { BEGINNING "\n", REST, "\n" } };
  static const Input end_of_file = { .pieces = { BEGINNING REST }, .closed = TRUE };

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  worker_program = argv[1];
  g_test_add_data_func ("/worker/begin/line-end", &line_end, test_begin);
  g_test_add_data_func ("/worker/begin/pieces", &pieces, test_begin);
  g_test_add_data_func ("/worker/begin/end-of-file", &end_of_file, test_begin);
  return g_test_run ();
}
