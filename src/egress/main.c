/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandbox-egress: makes the turns' calls to the model and to MCP servers, with the operator's keys.
 * Socket-activated. */
#include <curl/curl.h>
#include <glib-unix.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/names.h"
#include "config/search.h"
#include "egress/endpoints.h"
#include "egress/grants.h"
#include "egress/listener.h"
#include "egress/lockdown.h"
#include "egress/upstream.h"
#include "sbx-config.h"

#define STALE_CHECK_SEC 10u
#define STALE_CHECKS    6u

typedef struct {
  char *client_user;
  char *root;
  gboolean check;
  gboolean unlocked;
  gboolean print_filter;
  gboolean print_version;
} Options;

static void
options_clear (Options *self)
{
  g_free (self->client_user);
  g_free (self->root);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
read_options (int *argc, char ***argv, Options *options, GError **error)
{
  const GOptionEntry entries[] = {
    { "client-user", 0, 0, G_OPTION_ARG_STRING, &options->client_user,
      "Only this user may connect (default: " SBX_DAEMON_USER ")", "NAME" },
    { "config-root", 0, 0, G_OPTION_ARG_FILENAME, &options->root,
      "Read the configuration below this directory", "DIR" },
    { "check", 0, 0, G_OPTION_ARG_NONE, &options->check,
      "Check configuration and keys as this user, print what is wrong and end", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &options->print_version, "Print the version", NULL },
    { "print-filter", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options->print_filter,
      "Write the syscall filter's instructions to standard output", NULL },
    { "debug-unlocked", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options->unlocked,
      "Do not lock down: for valgrind and sanitizers, which need calls of their own", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (context,
                                "Makes the calls of sandboxed turns to the model and to MCP servers. "
                                "Started by sandbox-egress.socket.");
  return g_option_context_parse (context, argc, argv, error);
}

/* --- configuration --- */

static void
log_complaints (GPtrArray *complaints)
{
  for (guint i = 0; i < complaints->len; i++)
    sbx_log (LOG_WARNING, NULL, "%s", (const char *) g_ptr_array_index (complaints, i));
}

static int
check (const Options *options)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxEndpoints) endpoints = sbx_endpoints_load (options->root, warnings, &error);
  gboolean fine = endpoints != NULL && sbx_endpoints_check_keys (endpoints, complaints);

  /* Not g_print (), which writes what is not ASCII as question marks without a locale. */
  for (guint i = 0; i < warnings->len; i++)
    fprintf (stderr, "warning: %s\n", (const char *) g_ptr_array_index (warnings, i));
  for (guint i = 0; i < complaints->len; i++)
    fprintf (stderr, "%s\n", (const char *) g_ptr_array_index (complaints, i));
  if (error != NULL)
    fprintf (stderr, "%s\n", error->message);
  if (!fine)
    return EX_CONFIG;
  puts ("The configuration is right, and so are the keys.");
  return EX_OK;
}

static SbxEndpoints *
load (const Options *options, char **ret_complaint)
{
  g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxEndpoints) endpoints = sbx_endpoints_load (options->root, complaints, &error);

  if (endpoints == NULL)
    {
      sbx_log_event (SBX_LOG_ID_CONFIG_REJECTED, LOG_ERR, NULL, "%s", error->message);
      *ret_complaint = g_strdup (error->message);
      return NULL;
    }
  (void) sbx_endpoints_check_keys (endpoints, complaints);
  log_complaints (complaints);
  return g_steal_pointer (&endpoints);
}

static SbxEndpoints *
on_reload (char **ret_complaint, gpointer user_data)
{
  SbxEndpoints *endpoints = load (user_data, ret_complaint);

  if (endpoints != NULL)
    sbx_log_event (SBX_LOG_ID_CONFIG_LOADED, LOG_INFO, NULL, "The new configuration is in force");
  return endpoints;
}

/* Whole directories where files are replaced by renaming: a rule for a file holds for that very file alone.
 */
static GPtrArray *
readable_paths (const Options *options, SbxEndpoints *endpoints)
{
  static const char *const places[] = { SBX_SYSCONFDIR, SBX_RUN_CONFIG_DIR, SBX_VENDOR_CONFIG_DIR };
  const char *credentials = g_getenv ("CREDENTIALS_DIRECTORY");
  g_autoptr (GPtrArray) configured = sbx_endpoints_paths (endpoints);
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    g_ptr_array_add (paths, g_strconcat (options->root != NULL ? options->root : "", places[i], NULL));
  for (guint i = 0; i < configured->len; i++)
    {
      g_autofree char *parent = g_path_get_dirname (g_ptr_array_index (configured, i));

      /* A key right below / or /etc does not open all of it. */
      g_ptr_array_add (paths, g_strdup (g_ptr_array_index (configured, i)));
      if (g_strcmp0 (parent, "/") != 0 && g_strcmp0 (parent, "/etc") != 0 && g_strcmp0 (parent, "/run") != 0
          && g_strcmp0 (parent, "/tmp") != 0)
        g_ptr_array_add (paths, g_steal_pointer (&parent));
    }
  if (credentials != NULL)
    g_ptr_array_add (paths, g_strdup (credentials));
  g_ptr_array_add (paths, NULL);
  return paths;
}

/* --- running --- */

static gboolean
take_socket (int *ret_fd, GError **error)
{
  if (sd_listen_fds (TRUE) != 1 || sd_is_socket_unix (SD_LISTEN_FDS_START, SOCK_STREAM, 1, NULL, 0) <= 0)
    {
      g_set_error_literal (
        error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
        "No listening Unix socket: start sandbox-egress.socket, or use systemd-socket-activate");
      return FALSE;
    }
  *ret_fd = SD_LISTEN_FDS_START;
  return TRUE;
}

static gboolean
find_client (const Options *options, uid_t *ret_uid, GError **error)
{
  const char *name = options->client_user != NULL ? options->client_user : SBX_DAEMON_USER;
  const struct passwd *user = getpwnam (name);

  if (user == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                   "There is no user \"%s\", who alone may connect", name);
      return FALSE;
    }
  *ret_uid = user->pw_uid;
  return TRUE;
}

static gboolean
lock_down (const Options *options, SbxEndpoints *endpoints, GError **error)
{
  g_autoptr (GPtrArray) paths = readable_paths (options, endpoints);
  gboolean landlock = FALSE;

  if (options->unlocked)
    return TRUE;
  sbx_lockdown_preload ();
  if (!sbx_lockdown_apply ((const char *const *) paths->pdata, &landlock, error))
    return FALSE;
  if (!landlock)
    sbx_log (LOG_NOTICE, NULL,
             "This kernel has no Landlock: files are kept from this service by its unit alone");
  return TRUE;
}

static gboolean
on_stop (gpointer user_data)
{
  g_main_loop_quit (user_data);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_hangup (gpointer user_data)
{
  g_autofree char *complaint = NULL;

  (void) sbx_grants_reload (user_data, &complaint);
  return G_SOURCE_CONTINUE;
}

typedef struct {
  GMainLoop *loop;
  SbxGrants *grants;
  guint stale_checks; /* in a row */
  gboolean stale;     /* it ends for that reason */
} Service;

/* Between turns if possible, but names must be found again within a minute. */
static gboolean
on_stale_check (gpointer user_data)
{
  Service *self = user_data;

  if (!sbx_lockdown_is_stale ())
    {
      self->stale_checks = 0;
      return G_SOURCE_CONTINUE;
    }
  self->stale_checks++;
  if (!sbx_grants_is_idle (self->grants) && self->stale_checks < STALE_CHECKS)
    return G_SOURCE_CONTINUE;
  sbx_log (LOG_NOTICE, NULL,
           "/etc/resolv.conf was replaced by a file that the lockdown keeps away: starting anew");
  self->stale = TRUE;
  g_main_loop_quit (self->loop);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_watchdog (gpointer user_data)
{
  (void) sd_notify (0, "WATCHDOG=1");
  return G_SOURCE_CONTINUE;
}

/* Returns the exit status. */
static int
serve (Options *options, int fd, uid_t client, SbxEndpoints *endpoints)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (SbxUpstream) upstream = sbx_upstream_new ();
  g_autoptr (SbxGrants) grants = sbx_grants_new (upstream, endpoints, on_reload, options);
  g_autoptr (SbxListener) listener = sbx_listener_new (fd, client, grants);
  Service service = { .loop = loop, .grants = grants };
  guint sources[5] = { g_unix_signal_add (SIGTERM, on_stop, loop), g_unix_signal_add (SIGINT, on_stop, loop),
                       g_unix_signal_add (SIGHUP, on_hangup, grants),
                       g_timeout_add_seconds (STALE_CHECK_SEC, on_stale_check, &service) };
  guint64 watchdog_usec = 0;

  if (sd_watchdog_enabled (0, &watchdog_usec) > 0)
    sources[4] = g_timeout_add ((guint) (watchdog_usec / 2000), on_watchdog, NULL);
  (void) sd_notify (0, "READY=1");
  g_main_loop_run (loop);
  (void) sd_notify (0, "STOPPING=1");
  sbx_log_event (SBX_LOG_ID_SERVICE_STOPPING, LOG_INFO, NULL, "sandbox-egress stops");
  for (gsize i = 0; i < G_N_ELEMENTS (sources); i++)
    if (sources[i] != 0)
      (void) g_source_remove (sources[i]);
  return service.stale ? EX_TEMPFAIL : EXIT_SUCCESS; /* systemd starts it again after a failure */
}

static int
run (Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxEndpoints) endpoints = NULL;
  g_autofree char *complaint = NULL;
  uid_t client = 0;
  int fd = -1, status;

  sbx_log_init ("sandbox-egress");
  if (!take_socket (&fd, &error) || !find_client (options, &client, &error))
    {
      sbx_log (LOG_ERR, NULL, "%s", error->message);
      return EX_CONFIG;
    }
  endpoints = load (options, &complaint);
  if (endpoints == NULL)
    return EX_CONFIG;
  if (curl_global_init (CURL_GLOBAL_DEFAULT) != CURLE_OK)
    {
      sbx_log (LOG_ERR, NULL, "libcurl does not start");
      return EXIT_FAILURE;
    }
  /* This entry opens the journal's socket. No thread may run yet: the filter is on this one and those after
   * it. */
  sbx_log_event (SBX_LOG_ID_SERVICE_READY, LOG_INFO, NULL, "sandbox-egress is ready");
  if (!lock_down (options, endpoints, &error))
    {
      sbx_log (LOG_ERR, NULL, "The lockdown failed, nothing is served: %s", error->message);
      return EXIT_FAILURE;
    }
  status = serve (options, fd, client, endpoints);
  curl_global_cleanup ();
  return status;
}

int
main (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) filter = NULL;

  sbx_heap_keep ();
  if (!read_options (&argc, &argv, &options, &error))
    {
      g_printerr ("sandbox-egress: %s\n", error->message);
      return EX_USAGE;
    }
  if (options.print_version)
    {
      g_print ("sandbox-egress %s\n", SBX_VERSION);
      return EXIT_SUCCESS;
    }
  if (options.print_filter)
    {
      filter = sbx_lockdown_filter (&error);
      return filter != NULL
                 && fwrite (g_bytes_get_data (filter, NULL), g_bytes_get_size (filter), 1, stdout) == 1
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
    }
  return options.check ? check (&options) : run (&options);
}
