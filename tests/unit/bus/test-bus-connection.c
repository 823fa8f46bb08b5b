/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/bus-connection.h"

#include <glib/gstdio.h>
#include <signal.h>

#include "bus/bus-auto.h"
#include "bus/bus-call.h"
#include "test-bus.h"

/* dbus-daemon on an address of our choice, so that it can end and come back. */
typedef struct {
  char *dir;
  char *address;
  GSubprocess *daemon;
  SbxBusConnection *connection;
  sd_bus_slot *slot;
  guint n_ready;
  guint n_lost;
  guint refuse; /* so many fresh buses */
} Fixture;

static void
start_daemon (Fixture *f)
{
  g_autofree char *listen = g_strdup_printf ("--address=%s", f->address);
  g_autoptr (GError) error = NULL;
  g_autofree char *line = NULL;
  g_autoptr (GDataInputStream) output = NULL;

  f->daemon = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, "dbus-daemon", "--session",
                                "--nofork", "--nopidfile", "--print-address=1", listen, NULL);
  g_assert_no_error (error);
  output = g_data_input_stream_new (g_subprocess_get_stdout_pipe (f->daemon));
  line = g_data_input_stream_read_line (output, NULL, NULL, &error);
  g_assert_nonnull (line); /* it listens */
}

static void
stop_daemon (Fixture *f)
{
  g_subprocess_force_exit (f->daemon);
  g_assert_true (g_subprocess_wait (f->daemon, NULL, NULL));
  g_clear_object (&f->daemon);
}

static int
on_signal (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return 0;
}

static gboolean
on_ready (SbxBusConnection *connection, sd_bus *bus, gpointer user_data)
{
  Fixture *f = user_data;

  if (f->refuse > 0)
    {
      f->refuse--;
      return FALSE;
    }
  g_assert_true (sbx_bus_connection_peek (connection) == bus);
  g_assert_null (f->slot);
  g_assert_cmpint (sd_bus_match_signal_async (bus, &f->slot, NULL, "/a", "a.B", "C", on_signal, NULL, f), >=,
                   0);
  f->n_ready++;
  return TRUE;
}

static void
on_lost (SbxBusConnection *connection, gpointer user_data)
{
  Fixture *f = user_data;

  g_clear_pointer (&f->slot, sd_bus_slot_unref);
  f->n_lost++;
}

static const SbxBusConnectionEvents events = { on_ready, on_lost };

static void
set_up (Fixture *f, gconstpointer data)
{
  f->dir = g_dir_make_tmp ("bus-XXXXXX", NULL);
  f->address = g_strdup_printf ("unix:path=%s/bus", f->dir);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->dir, "bus", NULL);

  g_clear_pointer (&f->slot, sd_bus_slot_unref);
  sbx_bus_connection_free (f->connection);
  if (f->daemon != NULL)
    stop_daemon (f);
  g_unlink (path);
  g_rmdir (f->dir);
  g_free (f->dir);
  g_free (f->address);
}

static void
until (const guint *counter, guint value)
{
  while (*counter < value)
    g_main_context_iteration (NULL, TRUE);
}

/* A call that runs when the bus goes: answered, and the bus works again afterwards. */
static void
test_comes_back (Fixture *f, gconstpointer data)
{
  for (guint round = 1; round <= 2; round++)
    {
      g_autoptr (sd_bus_message) call = NULL;
      g_autoptr (sd_bus_message) answer = NULL;
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GError) error = NULL;
      sd_bus *bus = NULL;

      start_daemon (f);
      if (f->connection == NULL)
        f->connection = sbx_bus_connection_new (f->address, &events, f);
      until (&f->n_ready, round);
      bus = sbx_bus_connection_peek (f->connection);
      g_assert_cmpint (sd_bus_message_new_method_call (bus, &call, "org.freedesktop.DBus",
                                                       "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                                       "GetId"),
                       >=, 0);
      sbx_bus_call_async (bus, call, 5000, NULL, keep_result, &result);
      answer = sbx_bus_call_finish (await_result (&result), &error);
      g_assert_no_error (error);
      g_assert_false (sd_bus_message_is_method_error (answer, NULL));
      stop_daemon (f);
      until (&f->n_lost, round);
    }
}

/* It is not there yet when we come up. */
static void
test_late (Fixture *f, gconstpointer data)
{
  f->connection = sbx_bus_connection_new (f->address, &events, f);
  for (guint i = 0; i < 3; i++)
    g_main_context_iteration (NULL, FALSE);
  g_assert_null (sbx_bus_connection_peek (f->connection));
  start_daemon (f);
  until (&f->n_ready, 1);
  g_assert_cmpuint (f->n_lost, ==, 0);
}

static void
test_refused (Fixture *f, gconstpointer data)
{
  f->refuse = 1;
  start_daemon (f);
  f->connection = sbx_bus_connection_new (f->address, &events, f);
  until (&f->n_ready, 1);
  g_assert_cmpuint (f->n_lost, ==, 0);
}

/* A peer that never answers: the call ends by its own limit, or by a cancel. */
static void
test_limits (Fixture *f, gconstpointer data)
{
  g_autoptr (sd_bus) silent = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const char *name = NULL;

  start_daemon (f);
  f->connection = sbx_bus_connection_new (f->address, &events, f);
  until (&f->n_ready, 1);
  g_assert_cmpint (sd_bus_new (&silent), >=, 0);
  g_assert_cmpint (sd_bus_set_address (silent, f->address), >=, 0);
  g_assert_cmpint (sd_bus_set_bus_client (silent, 1), >=, 0);
  g_assert_cmpint (sd_bus_start (silent), >=, 0);
  g_assert_cmpint (sd_bus_get_unique_name (silent, &name), >=, 0);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (sd_bus_message) call = NULL;
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (sd_bus_message_new_method_call (sbx_bus_connection_peek (f->connection), &call, name,
                                                       "/a", "a.B", "C"),
                       >=, 0);
      sbx_bus_call_async (sbx_bus_connection_peek (f->connection), call, i == 0 ? 50 : 60000, cancellable,
                          keep_result, &result);
      if (i == 1)
        g_cancellable_cancel (cancellable);
      g_assert_null (sbx_bus_call_finish (await_result (&result), &error));
      g_assert_error (error, G_IO_ERROR, (gint) (i == 0 ? G_IO_ERROR_TIMED_OUT : G_IO_ERROR_CANCELLED));
    }
  sd_bus_close (silent);
}

static guint n_awake;

static gint
counting_poll (GPollFD *fds, guint n_fds, gint timeout_ms)
{
  gint n_ready = g_poll (fds, n_fds, 0);

  if (n_ready != 0)
    n_awake++;
  return n_ready;
}

/* With nothing to do the loop sleeps: a source that wakes its own context up would spin, seen by nobody. */
static void
test_idle_sleeps (Fixture *f, gconstpointer data)
{
  g_autoptr (sd_bus_message) call = NULL;
  g_autoptr (sd_bus_message) answer = NULL;
  g_autoptr (GAsyncResult) result = NULL;

  start_daemon (f);
  f->connection = sbx_bus_connection_new (f->address, &events, f);
  until (&f->n_ready, 1);
  /* the answer comes behind all that the bus had to say before */
  g_assert_cmpint (sd_bus_message_new_method_call (sbx_bus_connection_peek (f->connection), &call,
                                                   "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                                   "org.freedesktop.DBus", "GetId"),
                   >=, 0);
  sbx_bus_call_async (sbx_bus_connection_peek (f->connection), call, 60000, NULL, keep_result, &result);
  answer = sbx_bus_call_finish (await_result (&result), NULL);
  g_assert_nonnull (answer);
  for (guint i = 0; i < 10; i++)
    g_main_context_iteration (NULL, FALSE);

  g_main_context_set_poll_func (NULL, counting_poll);
  n_awake = 0;
  for (guint i = 0; i < 10; i++)
    g_main_context_iteration (NULL, FALSE);
  g_main_context_set_poll_func (NULL, NULL);
  g_assert_cmpuint (n_awake, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/bus/connection/comes-back", Fixture, NULL, set_up, test_comes_back, tear_down);
  g_test_add ("/bus/connection/late", Fixture, NULL, set_up, test_late, tear_down);
  g_test_add ("/bus/connection/refused", Fixture, NULL, set_up, test_refused, tear_down);
  g_test_add ("/bus/connection/idle-sleeps", Fixture, NULL, set_up, test_idle_sleeps, tear_down);
  g_test_add ("/bus/connection/limits", Fixture, NULL, set_up, test_limits, tear_down);
  return g_test_run ();
}
