/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/kept-sockets.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

struct _SbxKeptSockets {
  GHashTable *fds;
};

SbxKeptSockets *
sbx_kept_sockets_new (void)
{
  SbxKeptSockets *self = g_new0 (SbxKeptSockets, 1);

  self->fds = g_hash_table_new (NULL, NULL);
  return self;
}

void
sbx_kept_sockets_free (SbxKeptSockets *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->fds);
  g_free (self);
}

void
sbx_kept_sockets_add (SbxKeptSockets *self, int fd)
{
  (void) g_hash_table_add (self->fds, GINT_TO_POINTER (fd));
}

void
sbx_kept_sockets_remove (SbxKeptSockets *self, int fd)
{
  (void) g_hash_table_remove (self->fds, GINT_TO_POINTER (fd));
}

/* 0 where it has none. */
static guint
port_of (int fd)
{
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
  } address = { .room = { 0 } };
  socklen_t n_bytes = sizeof address;

  if (getsockname (fd, &address.any, &n_bytes) < 0)
    return 0;
  if (address.any.sa_family == AF_INET)
    return ntohs (address.v4.sin_port);
  return address.any.sa_family == AF_INET6 ? ntohs (address.v6.sin6_port) : 0;
}

gboolean
sbx_kept_sockets_have_unread (SbxKeptSockets *self, guint port)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->fds);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      struct pollfd look = { .fd = GPOINTER_TO_INT (key), .events = POLLIN };

      if (port_of (look.fd) == port && poll (&look, 1, 0) > 0)
        return TRUE;
    }
  return FALSE;
}
