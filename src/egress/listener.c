/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/listener.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/log.h"

struct _SbxListener {
  SbxFd fd;
  uid_t client;
  SbxGrants *grants;
  guint source;
  guint pause; /* source id; set while accepting waits for descriptors */
};

static gboolean on_readable (int fd, GIOCondition condition, gpointer user_data);

static gboolean
on_pause_over (gpointer user_data)
{
  SbxListener *self = user_data;

  self->pause = 0;
  self->source = g_unix_fd_add (self->fd, G_IO_IN, on_readable, self);
  return G_SOURCE_REMOVE;
}

/* The uid is of who connected, told by the kernel (unix(7), SO_PEERCRED). */
static gboolean
peer_is_client (const SbxListener *self, int fd)
{
  struct ucred peer;
  socklen_t n_bytes = sizeof peer;

  if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &n_bytes) < 0)
    return FALSE;
  if (peer.uid == self->client)
    return TRUE;
  sbx_log (LOG_WARNING, NULL, "A connection of the user %u was refused: only the user %u may connect",
           (guint) peer.uid, (guint) self->client);
  return FALSE;
}

static gboolean
on_readable (int fd, GIOCondition condition, gpointer user_data)
{
  SbxListener *self = user_data;
  int peer = accept4 (fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

  if (peer < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
    {
      /* Asked again at once, the loop would spin. */
      sbx_log (LOG_ERR, NULL, "No connection can be accepted now: %s", g_strerror (errno));
      self->source = 0;
      self->pause = g_timeout_add (200, on_pause_over, self);
      return G_SOURCE_REMOVE;
    }
  if (peer < 0)
    return G_SOURCE_CONTINUE;
  if (peer_is_client (self, peer))
    sbx_grants_take (self->grants, peer);
  else
    sbx_fd_close (peer);
  return G_SOURCE_CONTINUE;
}

SbxListener *
sbx_listener_new (int fd, uid_t client, SbxGrants *grants)
{
  SbxListener *self = g_new0 (SbxListener, 1);

  self->fd = fd;
  self->client = client;
  self->grants = grants;
  (void) sbx_fd_set_nonblocking (fd, NULL);
  self->source = g_unix_fd_add (fd, G_IO_IN, on_readable, self);
  return self;
}

void
sbx_listener_free (SbxListener *self)
{
  if (self == NULL)
    return;
  if (self->source != 0)
    (void) g_source_remove (self->source);
  if (self->pause != 0)
    (void) g_source_remove (self->pause);
  sbx_fd_close (self->fd);
  g_free (self);
}
