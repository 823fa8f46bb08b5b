/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The private socket of the daemon's program: the same objects, without a bus and without polkit. */
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/bus-source.h"
#include "fixture.h"

#define NOBODY 65534u

typedef struct {
  sd_bus *bus;
  GSource *source;
  gboolean lost;
} Client;

static void
on_client_lost (gpointer user_data)
{
  ((Client *) user_data)->lost = TRUE;
}

/* greets: as busctl does, which takes every address for a bus. */
static void
client_open (Client *self, Fixture *f, gboolean greets)
{
  g_autofree char *address = g_strconcat ("unix:path=", f->private_socket, NULL);
  int r;

  *self = (Client){ 0 };
  g_assert_cmpint (sd_bus_new (&self->bus), >=, 0);
  g_assert_cmpint (sd_bus_set_address (self->bus, address), >=, 0);
  g_assert_cmpint (sd_bus_set_bus_client (self->bus, greets), >=, 0);
  r = sd_bus_start (self->bus);
  /* systemd 257 writes at once, and so may already meet the end of a connection that is one too many */
  self->lost = r == -EPIPE || r == -ECONNRESET;
  if (self->lost)
    return;
  g_assert_cmpint (r, >=, 0);
  self->source = sbx_bus_source_new (self->bus, on_client_lost, self);
  g_source_attach (self->source, NULL);
}

/* The kernel notes who connects (unix(7)): for the time of a connect(), we are somebody without rights. */
static void
client_open_as_nobody (Client *self, Fixture *f)
{
  gid_t groups[64];
  int n = getgroups (G_N_ELEMENTS (groups), groups);
  gboolean root = geteuid () == 0;

  if (root)
    {
      g_assert_cmpint (setgroups (0, NULL), ==, 0);
      g_assert_cmpint (setegid (NOBODY), ==, 0);
      g_assert_cmpint (seteuid (NOBODY), ==, 0);
    }
  client_open (self, f, FALSE);
  if (root)
    {
      g_assert_cmpint (seteuid (0), ==, 0);
      g_assert_cmpint (setegid (0), ==, 0);
      g_assert_cmpint (setgroups ((size_t) n, groups), ==, 0);
    }
}

static void
client_close (Client *self)
{
  if (self->source != NULL)
    {
      g_source_destroy (self->source);
      g_source_unref (self->source);
    }
  sd_bus_unref (self->bus);
}

static sd_bus_message *
new_call (Client *self, const char *path, const char *interface, const char *method)
{
  sd_bus_message *call = NULL;

  g_assert_cmpint (sd_bus_message_new_method_call (self->bus, &call, SBX_BUS_NAME, path, interface, method),
                   >=, 0);
  return call;
}

static void
expect (Client *self, sd_bus_message *call, const char *error)
{
  g_autoptr (sd_bus_message) answer = fixture_send (self->bus, call);
  const sd_bus_error *got = sd_bus_message_get_error (answer);

  g_assert_cmpstr (got != NULL ? got->name : NULL, ==, error);
}

static void
expect_mode (Client *self, const char *error)
{
  g_autoptr (sd_bus_message) call = new_call (self, SBX_OBJECT_PATH, SBX_MANAGER_INTERFACE, "GetChannelMode");

  g_assert_cmpint (sd_bus_message_append (call, "s", "discord:1"), >=, 0);
  expect (self, call, error);
}

static void
test_served (Fixture *f, gconstpointer data)
{
  for (int greets = 0; greets < 2; greets++)
    {
      Client client;
      g_autoptr (sd_bus_message) introspect = NULL;
      g_autoptr (sd_bus_message) match = NULL;

      client_open (&client, f, greets);
      expect_mode (&client, geteuid () == 0 ? NULL : DENIED);
      introspect = new_call (&client, SBX_OBJECT_PATH, "org.freedesktop.DBus.Introspectable", "Introspect");
      expect (&client, introspect, NULL);
      match = new_call (&client, "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch");
      g_assert_cmpint (sd_bus_message_append (match, "s", "type='signal'"), >=, 0);
      expect (&client, match, NULL);
      client_close (&client);
    }
  /* Nobody asked polkit. */
  g_assert_cmpuint (f->asked->len, ==, 0);
}

/* Neither what a peer says of itself nor polkit's word gives it a right. */
static void
test_refused (Fixture *f, gconstpointer data)
{
  static const char *const senders[] = { NULL, ":1.0", "org.freedesktop.systemd1" };
  Client client;

  client_open_as_nobody (&client, f);
  for (gsize i = 0; i < G_N_ELEMENTS (senders); i++)
    {
      g_autoptr (sd_bus_message) call =
        new_call (&client, SBX_OBJECT_PATH, SBX_MANAGER_INTERFACE, "SetChannelMode");

      if (senders[i] != NULL)
        g_assert_cmpint (sd_bus_message_set_sender (call, senders[i]), >=, 0);
      g_assert_cmpint (sd_bus_message_append (call, "ss", "discord:1", "on"), >=, 0);
      expect (&client, call, DENIED);
    }
  expect_mode (&client, DENIED);
  client_close (&client);
  fixture_expect_mode (f, "discord:1", "off");
}

static void
await_loss (Client *client)
{
  while (!client->lost)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_too_many (Fixture *f, gconstpointer data)
{
  Client clients[17];

  for (gsize i = 0; i < G_N_ELEMENTS (clients); i++)
    client_open (&clients[i], f, TRUE);
  await_loss (&clients[16]);
  g_assert_false (clients[0].lost);
  for (gsize i = 0; i < G_N_ELEMENTS (clients); i++)
    client_close (&clients[i]);
  fixture_expect_mode (f, "discord:1", "off");
}

/* Those who may do nothing keep nobody out. */
static void
test_strangers_are_few (Fixture *f, gconstpointer data)
{
  Client clients[5];
  Client ours;

  for (gsize i = 0; i < G_N_ELEMENTS (clients); i++)
    client_open_as_nobody (&clients[i], f);
  await_loss (&clients[4]);
  expect_mode (&clients[0], DENIED);
  client_open (&ours, f, FALSE);
  expect_mode (&ours, geteuid () == 0 ? NULL : DENIED);
  client_close (&ours);
  for (gsize i = 0; i < G_N_ELEMENTS (clients); i++)
    client_close (&clients[i]);
}

/* A peer that asks and asks and never reads is cut off; the others are served meanwhile. */
static void
test_unread (Fixture *f, gconstpointer data)
{
  g_autofree char *address = g_strconcat ("unix:path=", f->private_socket, NULL);
  g_autoptr (sd_bus) bus = NULL;
  int r = 0;

  g_assert_cmpint (sd_bus_new (&bus), >=, 0);
  g_assert_cmpint (sd_bus_set_address (bus, address), >=, 0);
  g_assert_cmpint (sd_bus_start (bus), >=, 0);
  while (sd_bus_is_ready (bus) == 0)
    {
      r = sd_bus_process (bus, NULL);
      g_assert_cmpint (r, >=, 0);
      if (r == 0)
        g_assert_cmpint (sd_bus_wait (bus, G_USEC_PER_SEC), >=, 0);
    }
  for (guint i = 0; r >= 0 && i < 100000; i++)
    {
      g_autoptr (sd_bus_message) call = NULL;
      uint64_t cookie = 0;

      g_assert_cmpint (sd_bus_message_new_method_call (bus, &call, SBX_BUS_NAME, SBX_OBJECT_PATH,
                                                       "org.freedesktop.DBus.Introspectable", "Introspect"),
                       >=, 0);
      r = sd_bus_send (bus, call, &cookie); /* without one, no answer is expected */
      /* The queue of this side, when the daemon does not take more. */
      if (r >= 0 && i % 64 == 63)
        r = sd_bus_flush (bus);
      if (i % 512 == 0)
        fixture_expect_mode (f, "discord:1", "off");
    }
  g_assert_cmpint (r, <, 0);
  fixture_expect_mode (f, "discord:1", "off");
}

#define ADD(name, function)                                                                                  \
  g_test_add ("/private/" name, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >=, 2);
  daemon_program = argv[1];
  ADD ("served", test_served);
  ADD ("refused", test_refused);
  ADD ("too-many", test_too_many);
  ADD ("strangers-are-few", test_strangers_are_few);
  ADD ("unread", test_unread);
  return g_test_run ();
}
