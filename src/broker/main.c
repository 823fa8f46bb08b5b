/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandbox-broker: one guest's turn, its HTTP and its worker's output. Started by sandboxd; see README.md
 * beside this. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hardening.h"
#include "base/heap.h"
#include "broker/lockdown.h"
#include "broker/session.h"
#include "sbx-config.h"

typedef struct {
  int listen_fd;
  int control_fd;
  gboolean unlocked;
  gboolean print_filter;
  gboolean print_version;
  gboolean over;
  gboolean fault;
} Options;

static gboolean
read_options (int *argc, char ***argv, Options *options, GError **error)
{
  const GOptionEntry entries[] = {
    { "control-fd", 0, 0, G_OPTION_ARG_INT, &options->control_fd, "Connected socket to sandboxd", "N" },
    { "listen-fd", 0, 0, G_OPTION_ARG_INT, &options->listen_fd, "Listening Unix socket", "N" },
    { "version", 0, 0, G_OPTION_ARG_NONE, &options->print_version, "Print the version", NULL },
    { "print-filter", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options->print_filter,
      "Write the syscall filter's instructions to standard output", NULL },
    { "debug-unlocked", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options->unlocked,
      "Do not lock down: for valgrind and sanitizers, which need calls of their own", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (context, "Serves one sandboxed turn. Started by sandboxd.");
  return g_option_context_parse (context, argc, argv, error);
}

static gboolean
has_option (int fd, int option, int wanted)
{
  int value = -1;
  socklen_t n_bytes = sizeof value;

  return getsockopt (fd, SOL_SOCKET, option, &value, &n_bytes) == 0 && value == wanted;
}

/* By hand: libsystemd brings seven libraries, which would be a quarter of what a broker's start costs. */
static gboolean
is_socket (int fd, gboolean listening)
{
  return fd >= 0 && has_option (fd, SO_DOMAIN, AF_UNIX) && has_option (fd, SO_TYPE, SOCK_STREAM)
         && has_option (fd, SO_ACCEPTCONN, listening ? 1 : 0);
}

/* Finds the two sockets and closes everything else. */
static gboolean
take_descriptors (Options *options, GError **error)
{
  int kept[5] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };

  if (!is_socket (options->listen_fd, TRUE))
    {
      g_set_error_literal (
        error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
        "No listening Unix socket: --listen-fd=N names the one that the turn's worker will call");
      return FALSE;
    }
  if (!is_socket (options->control_fd, FALSE))
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                           "No control socket: --control-fd=N names the socket on which sandboxd speaks");
      return FALSE;
    }
  kept[3] = MIN (options->listen_fd, options->control_fd);
  kept[4] = MAX (options->listen_fd, options->control_fd);
  return sbx_hardening_close_others (kept, G_N_ELEMENTS (kept), error);
}

/* The parent is who made the control socket; the kernel remembers it (unix(7), SO_PEERCRED). */
static gboolean
die_with_maker (int control_fd, GError **error)
{
  struct ucred maker;
  socklen_t n_bytes = sizeof maker;

  if (getsockopt (control_fd, SOL_SOCKET, SO_PEERCRED, &maker, &n_bytes) < 0)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "Cannot tell who made the control socket");
      return FALSE;
    }
  return sbx_hardening_die_with_parent (maker.pid, error);
}

static gboolean
print_filter (GError **error)
{
  g_autoptr (GBytes) filter = sbx_lockdown_filter (error);

  if (filter == NULL)
    return FALSE;
  return fwrite (g_bytes_get_data (filter, NULL), g_bytes_get_size (filter), 1, stdout) == 1;
}

static gboolean
on_session_lock (gpointer user_data)
{
  const Options *options = user_data;
  g_autoptr (GError) error = NULL;

  if (options->unlocked || sbx_lockdown_apply (&error))
    return TRUE;
  g_printerr ("sandbox-broker: %s\n", error->message);
  return FALSE;
}

static void
on_session_over (gboolean fault, gpointer user_data)
{
  Options *options = user_data;

  /* At once, without what exit() would have other code do. A leak checker wants to see a plain return. */
  if (!options->unlocked)
    _exit (fault ? EXIT_FAILURE : EXIT_SUCCESS);
  options->over = TRUE;
  options->fault = fault;
}

static int
run (Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxSession) session = NULL;
  static const SbxSessionEvents events = { .lock = on_session_lock, .over = on_session_over };

  if (!take_descriptors (options, &error) || !die_with_maker (options->control_fd, &error))
    {
      g_printerr ("sandbox-broker: %s\n", error->message);
      return EXIT_FAILURE;
    }
  sbx_lockdown_preload ();
  session = sbx_session_new (options->control_fd, options->listen_fd, &events, options);
  while (!options->over)
    g_main_context_iteration (NULL, TRUE);
  return options->fault ? EXIT_FAILURE : EXIT_SUCCESS;
}

int
main (int argc, char **argv)
{
  Options options = { .listen_fd = -1, .control_fd = -1 };
  g_autoptr (GError) error = NULL;

  sbx_heap_keep ();
  if (!read_options (&argc, &argv, &options, &error) || (options.print_filter && !print_filter (&error)))
    {
      g_printerr ("sandbox-broker: %s\n", error != NULL ? error->message : "Cannot write the filter");
      return 2;
    }
  if (options.print_version)
    g_print ("sandbox-broker %s\n", SBX_VERSION);
  if (options.print_version || options.print_filter)
    return 0;
  return run (&options);
}
