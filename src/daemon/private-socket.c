/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/private-socket.h"

#include <errno.h>
#include <glib-unix.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/source.h"
#include "bus/bus-auto.h"
#include "bus/bus-source.h"
#include "daemon/rights.h"

#define MAX_PEERS          64u
#define MAX_PEERS_PER_USER 16u
/* Of those who may do nothing, so that they do not keep the others out. */
#define MAX_STRANGERS 4u
/* Answers that a peer has not read. Each can be as long as a reply. */
#define MAX_UNREAD 32u
/* Signals are not worth that much. */
#define MAX_UNREAD_FOR_SIGNALS 8u

typedef struct {
  SbxPrivateSocket *owner;
  uid_t uid;
  gboolean stranger;
  sd_bus *bus;
  GSource *source;
  GSource *closing;
} Peer;

struct _SbxPrivateSocket {
  SbxFd listener;
  guint accept_source;
  GPtrArray *peers; /* of Peer */
  const SbxPrivateSocketEvents *events;
  gpointer user_data;
};

static void
peer_free (gpointer data)
{
  Peer *self = data;

  sbx_source_clear (&self->closing);
  /* Before its source, which would flush it: whoever does not read must not hold us up. */
  sd_bus_close (self->bus);
  sbx_source_clear (&self->source);
  sd_bus_unref (self->bus);
  g_free (self);
}

static gboolean
on_close (gpointer user_data)
{
  Peer *self = user_data;

  self->owner->events->lost (self->bus, self->owner->user_data);
  g_ptr_array_remove (self->owner->peers, self);
  return G_SOURCE_REMOVE;
}

/* From an idle source: a bus must not be closed inside one of its callbacks. */
static void
close_soon (gpointer user_data)
{
  Peer *self = user_data;

  if (self->closing != NULL)
    return;
  self->closing = g_idle_source_new ();
  /* Above the flood that may be the reason. */
  g_source_set_priority (self->closing, G_PRIORITY_HIGH);
  g_source_set_callback (self->closing, on_close, self, NULL);
  g_source_attach (self->closing, NULL);
}

/* --- what a bus would answer: busctl greets one wherever it connects --- */

static int
method_hello (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_reply_method_return (message, "s", ":1.0");
}

static int
method_nothing (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_reply_method_return (message, NULL);
}

static const sd_bus_vtable driver_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("Hello", NULL, "s", method_hello, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("AddMatch", "s", NULL, method_nothing, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("RemoveMatch", "s", NULL, method_nothing, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

static int
on_message (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Peer *self = user_data;
  uint64_t unread = 0;

  if (self->closing != NULL)
    return 1;
  if (sd_bus_get_n_queued_write (self->bus, &unread) >= 0 && unread <= MAX_UNREAD)
    return 0;
  sbx_log (LOG_WARNING, NULL, "A caller on the private socket (uid %u) does not read its answers; cut off",
           (guint) self->uid);
  close_soon (self);
  return 1;
}

static int
serve (Peer *self, int fd)
{
  sd_id128_t id;
  int r = sd_id128_randomize (&id);

  if (r < 0 || (r = sd_bus_new (&self->bus)) < 0)
    {
      sbx_fd_close (fd);
      return r;
    }
  r = sd_bus_set_fd (self->bus, fd, fd);
  if (r < 0)
    {
      sbx_fd_close (fd);
      return r;
    }
  if ((r = sd_bus_set_server (self->bus, 1, id)) < 0 || (r = sd_bus_negotiate_creds (self->bus, 0, 0)) < 0
      || (r = sd_bus_start (self->bus)) < 0
      || (r = sd_bus_add_filter (self->bus, NULL, on_message, self)) < 0)
    return r;
  return sd_bus_add_object_vtable (self->bus, NULL, "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                   driver_vtable, self);
}

static guint
count_of (SbxPrivateSocket *self, uid_t uid)
{
  guint n = 0;

  for (guint i = 0; i < self->peers->len; i++)
    n += ((Peer *) self->peers->pdata[i])->uid == uid;
  return n;
}

static gboolean
has_room (SbxPrivateSocket *self, uid_t uid, gboolean stranger)
{
  guint n_strangers = 0;

  for (guint i = 0; i < self->peers->len; i++)
    n_strangers += ((Peer *) self->peers->pdata[i])->stranger;
  return self->peers->len < MAX_PEERS && count_of (self, uid) < MAX_PEERS_PER_USER
         && (!stranger || n_strangers < MAX_STRANGERS);
}

static void
take_peer (SbxPrivateSocket *self, int connection)
{
  g_auto (SbxFd) fd = connection;
  SbxStanding standing;
  gboolean stranger;
  uid_t uid = 0;
  Peer *peer;

  /* Without a word: it has not been authenticated, and there is nobody to tell. */
  if (!sbx_rights_of_socket (fd, &uid, &standing))
    return;
  stranger = !standing.root && !standing.operator_group && !standing.bot_group;
  if (!has_room (self, uid, stranger))
    {
      sbx_log (LOG_DEBUG, NULL, "A connection to the private socket was closed: too many are open");
      return;
    }
  peer = g_new0 (Peer, 1);
  peer->owner = self;
  peer->uid = uid;
  peer->stranger = stranger;
  if (serve (peer, g_steal_fd (&fd)) < 0 || !self->events->added (peer->bus, self->user_data))
    {
      peer_free (peer);
      return;
    }
  peer->source = sbx_bus_source_new (peer->bus, close_soon, peer);
  g_source_attach (peer->source, NULL);
  g_ptr_array_add (self->peers, peer);
}

static gboolean
on_connection (gint listener, GIOCondition condition, gpointer user_data)
{
  int fd = accept4 (listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

  if (fd >= 0)
    take_peer (user_data, fd);
  else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
    sbx_log (LOG_WARNING, NULL, "Cannot accept a connection on the private socket: %s", g_strerror (errno));
  return G_SOURCE_CONTINUE;
}

SbxPrivateSocket *
sbx_private_socket_new (int listener, const SbxPrivateSocketEvents *events, gpointer user_data)
{
  SbxPrivateSocket *self = g_new0 (SbxPrivateSocket, 1);

  self->listener = listener;
  self->events = events;
  self->user_data = user_data;
  self->peers = g_ptr_array_new_with_free_func (peer_free);
  (void) g_unix_set_fd_nonblocking (listener, TRUE, NULL);
  self->accept_source = g_unix_fd_add (listener, G_IO_IN, on_connection, self);
  return self;
}

void
sbx_private_socket_free (SbxPrivateSocket *self)
{
  if (self == NULL)
    return;
  g_source_remove (self->accept_source);
  while (self->peers->len > 0)
    (void) on_close (self->peers->pdata[0]);
  g_ptr_array_unref (self->peers);
  sbx_fd_close (self->listener);
  g_free (self);
}

void
sbx_private_socket_foreach (SbxPrivateSocket *self, void (*func) (sd_bus *bus, gpointer user_data),
                            gpointer user_data)
{
  for (guint i = 0; self != NULL && i < self->peers->len; i++)
    {
      Peer *peer = self->peers->pdata[i];
      uint64_t unread = 0;

      if (peer->closing == NULL && sd_bus_get_n_queued_write (peer->bus, &unread) >= 0
          && unread <= MAX_UNREAD_FOR_SIGNALS)
        func (peer->bus, user_data);
    }
}
