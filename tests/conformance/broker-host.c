/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the vectors call CMD: one turn without a worker. The broker and the egress are the real programs, the
 * tools are called by sandboxd's own code; only systemd and Docker are missing.
 *
 *   broker-host PATH-OF-SANDBOX-BROKER PATH-OF-SANDBOX-EGRESS
 */
#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/fd.h"
#include "conformance/host-tools.h"
#include "turn/broker-process.h"
#include "turn/broker-session.h"
#include "turn/egress-client.h"
#include "sbx-config.h"

#define TURN          "conformance"
#define DEADLINE_MSEC 600000u

typedef struct {
  char *directory;
  GMainLoop *loop;
  GPid egress_pid;
  SbxEgressClient *egress;
  SbxBrokerProcess *broker;
  SbxBrokerSession *session;
  GPtrArray *tools;
  SbxFd listener;
  int stream[2]; /* the worker's output, which never comes */
  int status;
} Host;

/* --- settings --- */

static const char *
setting (const char *name)
{
  const char *value = g_getenv (name);

  if (value == NULL)
    g_error ("%s is not set", name);
  return value;
}

static void write_file (Host *self, const char *name, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
write_file (Host *self, const char *name, const char *format, ...)
{
  g_autofree char *path = g_build_filename (self->directory, SBX_SYSCONFDIR, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (g_mkdir_with_parents (parent, 0700) < 0
      || !g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, &error))
    g_error ("%s: %s", path, error != NULL ? error->message : g_strerror (errno));
}

#define TOOL_SPEC(name)                                                                                      \
  "{\"name\":\"" name "\",\"description\":\"" name "\",\"parameters\":{\"type\":\"object\"}}"

static void
write_settings (Host *self)
{
  write_file (self, "keys/model", "%s", setting ("SANDBOX_TEST_KEY"));
  write_file (self, "keys/docs", "%s", setting ("SANDBOX_TEST_MCP_KEY"));
  write_file (self, "sandboxd.conf",
              "[Model]\n"
              "URL=%s\n"
              "Name=test-model\n"
              "KeyFile=%s" SBX_SYSCONFDIR "/keys/model\n"
              "PlainHTTP=yes\n",
              setting ("SANDBOX_TEST_MODEL_URL"), self->directory);
  write_file (self, "mcp.d/docs.json",
              "{\"name\":\"docs\",\"url\":\"%s\",\"plain_http\":true,"
              "\"key_file\":\"%s" SBX_SYSCONFDIR "/keys/docs\","
              "\"tools\":[" TOOL_SPEC ("search") "," TOOL_SPEC ("fetch") "]}",
              setting ("SANDBOX_TEST_MCP_DOCS_URL"), self->directory);
  write_file (self, "mcp.d/open.json",
              "{\"name\":\"open\",\"url\":\"%s\",\"plain_http\":true,\"tools\":[" TOOL_SPEC ("ping") "]}",
              setting ("SANDBOX_TEST_MCP_OPEN_URL"));
}

/* --- the egress --- */

static int
listen_at (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (g_strlcpy (address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
    g_error ("%s is too long for a socket", path);
  if (fd < 0 || bind (fd, (struct sockaddr *) &address, sizeof address) < 0 || chmod (path, 0660) < 0
      || listen (fd, 64) < 0)
    g_error ("%s: %s", path, g_strerror (errno));
  return fd;
}

/* In the child: passes the listener as socket activation does, whose variables name the child's own pid. */
static void
become_egress (const char *program, const char *directory, int listener, pid_t parent)
{
  g_autofree char *root = g_strdup_printf ("--config-root=%s", directory);
  g_autofree char *user = g_strdup_printf ("--client-user=%s", g_get_user_name ());
  g_autofree char *pid = g_strdup_printf ("%d", (int) getpid ());

  if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid () != parent
      || dup2 (listener, SD_LISTEN_FDS_START) < 0)
    _exit (127);
  if (listener == SD_LISTEN_FDS_START)
    (void) fcntl (listener, F_SETFD, 0);
  (void) g_setenv ("LISTEN_FDS", "1", TRUE);
  (void) g_setenv ("LISTEN_PID", pid, TRUE);
  execl (program, program, root, user, NULL);
  _exit (127);
}

static void
start_egress (Host *self, const char *program)
{
  g_autofree char *path = g_build_filename (self->directory, "egress.sock", NULL);
  g_auto (SbxFd) listener = listen_at (path);
  pid_t parent = getpid ();

  self->egress_pid = fork ();
  if (self->egress_pid < 0)
    g_error ("fork: %s", g_strerror (errno));
  if (self->egress_pid == 0)
    become_egress (program, self->directory, listener, parent);
  self->egress = sbx_egress_client_new (path);
}

/* --- the turn --- */

static void
host_end (Host *self, int status, const char *why)
{
  if (why != NULL)
    g_printerr ("broker-host: %s\n", why);
  self->status = status;
  g_main_loop_quit (self->loop);
}

/* The path appears once requests are served: whoever waits for it needs to wait for nothing else. */
static void
show_listener (Host *self)
{
  g_autofree char *hidden = g_strdup_printf ("%s.new", setting ("SANDBOX_TEST_SOCKET"));

  if (g_rename (hidden, setting ("SANDBOX_TEST_SOCKET")) < 0)
    host_end (self, 1, g_strerror (errno));
}

static void
announce_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Host *self = user_data;
  const SbxToolIdentity identity = { .turn = TURN,
                                     .channel = setting ("SANDBOX_TEST_CHANNEL"),
                                     .speaker_id = setting ("SANDBOX_TEST_SPEAKER_ID"),
                                     .speaker_name = setting ("SANDBOX_TEST_SPEAKER_NAME") };
  SbxFailure failure = SBX_FAILURE_NONE;
  g_auto (SbxFd) grant = sbx_egress_client_announce_finish (result, &failure);
  g_autoptr (GError) error = NULL;

  if (grant < 0)
    host_end (self, 1, sbx_failure_text (failure));
  else if (!sbx_broker_session_start (self->session, &identity, DEADLINE_MSEC, grant, self->stream[1],
                                      &error))
    host_end (self, 1, error->message);
  else
    show_listener (self);
}

static void
on_session_ready (SbxBrokerSession *session, gpointer user_data)
{
  static const char *const servers[] = { "docs", "open", NULL };
  Host *self = user_data;
  g_autoptr (SbxGrant) grant =
    sbx_grant_new (TURN, setting ("SANDBOX_TEST_CHANNEL"), setting ("SANDBOX_TEST_SPEAKER_ID"), DEADLINE_MSEC,
                   SBX_DEFAULT_CALL_BUDGET, servers);

  sbx_egress_client_announce_async (self->egress, grant, NULL, announce_done, self);
}

static void
on_session_replied (SbxBrokerSession *session, SbxControlReply *reply, gpointer user_data)
{
  host_end (user_data, 1, "a reply came, though there is no worker");
}

static void
on_session_no_reply (SbxBrokerSession *session, SbxFailure failure, gpointer user_data)
{
  host_end (user_data, 1, "the worker's output ended, though there is none");
}

static void
on_session_closed (SbxBrokerSession *session, const GError *error, gpointer user_data)
{
  host_end (user_data, 1, error != NULL ? error->message : "the broker is gone");
}

static const SbxBrokerSessionEvents session_events = {
  .ready = on_session_ready,
  .replied = on_session_replied,
  .no_reply = on_session_no_reply,
  .closed = on_session_closed,
};

static SbxControlConfig *
make_config (void)
{
  static const char *const docs[] = { "search", "fetch", NULL };
  static const char *const open_tools[] = { "ping", NULL };
  SbxControlConfig *config = sbx_control_config_new ();

  g_strfreev (config->tools);
  config->tools = g_strdupv ((char **) host_tools_names);
  sbx_control_config_add_server (config, "docs", docs);
  sbx_control_config_add_server (config, "open", open_tools);
  return config;
}

static void
start_broker (Host *self, const char *program)
{
  g_autofree char *hidden = g_strdup_printf ("%s.new", setting ("SANDBOX_TEST_SOCKET"));
  g_autoptr (SbxControlConfig) config = make_config ();
  g_autoptr (GError) error = NULL;
  int control = -1;

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->stream) < 0)
    g_error ("socketpair: %s", g_strerror (errno));
  self->listener = listen_at (hidden);
  self->broker = sbx_broker_process_spawn (program, self->listener, &control, &error);
  if (self->broker == NULL)
    g_error ("%s", error->message);
  self->session = sbx_broker_session_new (control, self->tools, self->egress, &session_events, self);
  if (!sbx_broker_session_configure (self->session, config, &error))
    g_error ("%s", error->message);
}

/* --- the end --- */

static gboolean
on_terminated (gpointer user_data)
{
  host_end (user_data, 0, NULL);
  return G_SOURCE_REMOVE;
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  (void) g_remove (path);
}

static void
on_broker_gone (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
}

/* Both end by themselves once their sockets close, and are waited for: under valgrind or a sanitizer they
 * have something to say at their end. */
static void
host_await_children (Host *self)
{
  gboolean gone = FALSE;

  sbx_broker_process_watch (self->broker, on_broker_gone, &gone);
  while (!gone)
    g_main_context_iteration (NULL, TRUE);
  (void) kill (self->egress_pid, SIGTERM);
  (void) waitpid (self->egress_pid, NULL, 0);
}

static void
host_clear (Host *self)
{
  g_clear_pointer (&self->session, sbx_broker_session_free);
  g_clear_pointer (&self->egress, sbx_egress_client_free);
  host_await_children (self);
  g_clear_pointer (&self->broker, sbx_broker_process_free);
  g_ptr_array_unref (self->tools);
  sbx_fd_close (self->listener);
  sbx_fd_close (self->stream[0]);
  sbx_fd_close (self->stream[1]);
  remove_tree (self->directory);
  g_free (self->directory);
  g_main_loop_unref (self->loop);
}

int
main (int argc, char **argv)
{
  Host host = { .listener = -1, .stream = { -1, -1 } };
  g_autofree char *fail_text = NULL;

  if (argc != 3)
    {
      g_printerr ("usage: broker-host PATH-OF-SANDBOX-BROKER PATH-OF-SANDBOX-EGRESS\n");
      return 2;
    }
  host.directory = g_dir_make_tmp ("sbx-XXXXXX", NULL);
  host.loop = g_main_loop_new (NULL, FALSE);
  (void) signal (SIGPIPE, SIG_IGN);
  (void) g_unix_signal_add (SIGTERM, on_terminated, &host);
  fail_text = g_strdup_printf ("cannot reach %s with %s", setting ("SANDBOX_TEST_MODEL_URL"),
                               setting ("SANDBOX_TEST_KEY"));

  write_settings (&host);
  start_egress (&host, argv[2]); /* before there are threads */
  host.tools = host_tools_serve (host.directory, fail_text);
  start_broker (&host, argv[1]);
  g_main_loop_run (host.loop);
  host_clear (&host);
  return host.status;
}
