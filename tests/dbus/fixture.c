/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "fixture.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bus/bus-call.h"
#include "sbx-config.h"

const char *daemon_program;

/* --- the peers ------------------------------------------------------------------------------------------ */

static int
method_check (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;
  GString *line = g_string_new (NULL);
  const char *action = NULL;
  const char *key = NULL;
  const char *value = NULL;

  g_assert_cmpint (sd_bus_message_skip (message, "(sa{sv})"), >=, 0);
  g_assert_cmpint (sd_bus_message_read (message, "s", &action), >=, 0);
  g_string_append (line, action);
  g_assert_cmpint (sd_bus_message_enter_container (message, 'a', "{ss}"), >=, 0);
  while (sd_bus_message_read (message, "{ss}", &key, &value) > 0)
    g_string_append_printf (line, " %s=%s", key, value);
  g_ptr_array_add (f->asked, g_string_free (line, FALSE));
  if (f->polkit == POLKIT_SILENT)
    return 1;
  if (f->polkit == POLKIT_NO_ONCE)
    {
      f->polkit = POLKIT_YES;
      return sd_bus_reply_method_return (message, "(bba{ss})", FALSE, FALSE, 0);
    }
  return sd_bus_reply_method_return (message, "(bba{ss})", f->polkit == POLKIT_YES,
                                     f->polkit == POLKIT_CHALLENGE, 0);
}

static int
method_cancel_check (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  ((Fixture *) user_data)->cancelled++;
  return sd_bus_reply_method_return (message, NULL);
}

static int
method_start (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;

  f->scopes++;
  return sd_bus_error_set (ret_error, DENIED, "Access denied");
}

static int
method_nothing (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_reply_method_return (message, NULL);
}

static int
method_list (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_reply_method_return (message, "a(ssssssouso)", 0);
}

static const sd_bus_vtable polkit_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", method_check,
                 SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("CancelCheckAuthorization", "s", NULL, method_cancel_check, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

static const sd_bus_vtable systemd_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("Subscribe", NULL, NULL, method_nothing, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("StartTransientUnit", "ssa(sv)a(sa(sv))", "o", method_start, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("ListUnitsByPatterns", "asas", "a(ssssssouso)", method_list, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

/* --- the daemon ----------------------------------------------------------------------------------------- */

static int
listen_private (Fixture *f)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpuint (g_strlcpy (address.sun_path, f->private_socket, sizeof address.sun_path), <,
                    sizeof address.sun_path);
  (void) g_unlink (f->private_socket);
  g_assert_cmpint (bind (fd, (const struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (g_chmod (f->private_socket, 0666), ==, 0);
  g_assert_cmpint (listen (fd, 64), ==, 0);
  return fd;
}

GSubprocess *
fixture_spawn (Fixture *f, GSubprocessFlags flags)
{
  g_autofree char *address =
    g_strconcat ("--bus-address=", g_test_dbus_get_bus_address (f->bus.daemon), NULL);
  g_autofree char *root = g_strdup_printf ("--root=%s/root", f->dir);
  g_autofree char *state = g_strdup_printf ("--state-dir=%s/state", f->dir);
  g_autofree char *run = g_strdup_printf ("--run-dir=%s/run", f->dir);
  g_autofree char *docker = g_strdup_printf ("--docker-socket=%s/docker.sock", f->dir);
  g_autofree char *egress = g_strdup_printf ("--egress-socket=%s/egress.sock", f->dir);
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (flags);
  g_autoptr (GError) error = NULL;
  GSubprocess *child = NULL;

  /* As systemd hands a socket over: sd_listen_fds(3). */
  g_subprocess_launcher_take_fd (launcher, listen_private (f), 3);
  child = g_subprocess_launcher_spawn (launcher, &error, "sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"",
                                       "sh", daemon_program, address, root, state, run, docker, egress, NULL);

  g_assert_no_error (error);
  return child;
}

static int
on_owner (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  *(gboolean *) user_data = TRUE;
  return 0;
}

void
fixture_start (Fixture *f)
{
  g_autoptr (sd_bus_slot) slot = NULL;
  gboolean there = FALSE;

  g_assert_cmpint (sd_bus_add_match (f->bus.client, &slot,
                                     "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
                                     "arg0='" SBX_BUS_NAME "'",
                                     on_owner, &there),
                   >=, 0);
  f->daemon = fixture_spawn (f, G_SUBPROCESS_FLAGS_NONE);
  while (!there)
    g_main_context_iteration (NULL, TRUE);
}

void
fixture_stop (Fixture *f)
{
  g_subprocess_send_signal (f->daemon, SIGTERM);
  g_assert_true (g_subprocess_wait (f->daemon, NULL, NULL));
  g_assert_true (g_subprocess_get_successful (f->daemon));
  g_clear_object (&f->daemon);
}

static void
make_dir (Fixture *f, const char *name)
{
  g_autofree char *path = g_build_filename (f->dir, name, NULL);

  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
}

/* A worker's user that every host has, and no turn made ahead, which would leave traces beside those looked
 * at. */
static void
write_configuration (Fixture *f)
{
  g_autofree char *dir = g_build_filename (f->dir, "root" SBX_SYSCONFDIR, NULL);
  g_autofree char *file = g_build_filename (dir, "sandboxd.conf", NULL);

  g_assert_cmpint (g_mkdir_with_parents (dir, 0700), ==, 0);
  g_assert_true (g_file_set_contents (file, "[Worker]\nUser=nobody\n[Turns]\nPreparedTurns=0\n", -1, NULL));
}

void
fixture_set_up (Fixture *f, gconstpointer data)
{
  f->asked = g_ptr_array_new_with_free_func (g_free);
  f->dir = g_dir_make_tmp ("sandboxd-XXXXXX", NULL);
  f->private_socket = g_build_filename (f->dir, "private.sock", NULL);
  /* Others may come to the socket. */
  g_assert_cmpint (g_chmod (f->dir, 0711), ==, 0);
  write_configuration (f);
  make_dir (f, "state");
  make_dir (f, "run");
  test_bus_set_up (&f->bus, "org.freedesktop.PolicyKit1");
  g_assert_cmpint (sd_bus_request_name (f->bus.peer, "org.freedesktop.systemd1", 0), >=, 0);
  g_assert_cmpint (sd_bus_add_object_vtable (f->bus.peer, NULL, "/org/freedesktop/PolicyKit1/Authority",
                                             "org.freedesktop.PolicyKit1.Authority", polkit_vtable, f),
                   >=, 0);
  g_assert_cmpint (sd_bus_add_object_vtable (f->bus.peer, NULL, "/org/freedesktop/systemd1",
                                             "org.freedesktop.systemd1.Manager", systemd_vtable, f),
                   >=, 0);
  fixture_start (f);
}

void
fixture_tear_down (Fixture *f, gconstpointer data)
{
  g_autoptr (GSubprocess) rm = NULL;

  fixture_stop (f);
  test_bus_tear_down (&f->bus);
  rm = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, NULL, "rm", "-rf", f->dir, NULL);
  g_assert_true (g_subprocess_wait_check (rm, NULL, NULL));
  g_free (f->dir);
  g_free (f->private_socket);
  g_ptr_array_unref (f->asked);
}

/* --- calls ---------------------------------------------------------------------------------------------- */

sd_bus_message *
fixture_send (sd_bus *bus, sd_bus_message *call)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  sd_bus_message *answer = NULL;

  sbx_bus_call_async (bus, call, 20000, NULL, keep_result, &result);
  answer = sbx_bus_call_finish (await_result (&result), &error);
  g_assert_no_error (error);
  return answer;
}

sd_bus_message *
fixture_new_call (Fixture *f, const char *interface, const char *method)
{
  sd_bus_message *call = NULL;

  g_assert_cmpint (
    sd_bus_message_new_method_call (f->bus.client, &call, SBX_BUS_NAME, SBX_OBJECT_PATH, interface, method),
    >=, 0);
  return call;
}

/* A call with texts alone, NULL-terminated; RunTurn gets its empty options by itself. error NULL: it must
 * succeed. */
sd_bus_message *
fixture_call (Fixture *f, const char *method, const char *const *texts, const char *error)
{
  g_autoptr (sd_bus_message) message = fixture_new_call (f, SBX_MANAGER_INTERFACE, method);
  sd_bus_message *answer = NULL;
  const sd_bus_error *got = NULL;

  for (gsize i = 0; texts[i] != NULL; i++)
    g_assert_cmpint (sd_bus_message_append (message, "s", texts[i]), >=, 0);
  if (g_str_equal (method, "RunTurn") || g_str_equal (method, "StartTurn"))
    g_assert_cmpint (sd_bus_message_append (message, "a{sv}", 0), >=, 0);
  answer = fixture_send (f->bus.client, message);
  got = sd_bus_message_get_error (answer);
  g_assert_cmpstr (got != NULL ? got->name : NULL, ==, error);
  return answer;
}

void
fixture_expect_mode (Fixture *f, const char *channel, const char *mode)
{
  g_autoptr (sd_bus_message) answer = fixture_call (f, "GetChannelMode", TEXTS (channel), NULL);
  const char *got = NULL;

  g_assert_cmpint (sd_bus_message_read (answer, "s", &got), >=, 0);
  g_assert_cmpstr (got, ==, mode);
}

gboolean
fixture_was_asked (Fixture *f, const char *action)
{
  for (guint i = 0; i < f->asked->len; i++)
    if (g_str_has_prefix (g_ptr_array_index (f->asked, i), action))
      return TRUE;
  return FALSE;
}
