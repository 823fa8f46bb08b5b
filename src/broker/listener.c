/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/listener.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "broker/source.h"

/* After an accept() that failed for want of memory: the same would come at once again. */
#define PAUSE_MSEC 100u

struct _SbxListener {
  SbxFd fd;
  const SbxPolicy *policy;
  SbxCalls *calls;
  SbxAudit *audit;
  GSource *watch;
  GSource *pause;
  GPtrArray *connections;
};

static void listener_watch (SbxListener *self);

static gboolean
on_pause_over (gpointer user_data)
{
  SbxListener *self = user_data;

  sbx_source_clear (&self->pause);
  listener_watch (self);
  return G_SOURCE_REMOVE;
}

static void
listener_pause (SbxListener *self)
{
  sbx_source_clear (&self->watch);
  self->pause = sbx_source_after (PAUSE_MSEC, on_pause_over, self);
}

static void
on_connection_over (SbxConnection *connection, gpointer user_data)
{
  SbxListener *self = user_data;

  g_ptr_array_remove_fast (self->connections, connection);
}

static gboolean
on_listener_readable (int fd, GIOCondition condition, gpointer user_data)
{
  static const SbxControlAudit turned_away = { .failure = SBX_FAILURE_RULES };
  SbxListener *self = user_data;
  g_auto (SbxFd) accepted = accept4 (self->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

  if (accepted < 0)
    {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        listener_pause (self);
      return G_SOURCE_CONTINUE;
    }
  if (self->connections->len >= SBX_LISTENER_MAX_CONNECTIONS)
    {
      sbx_audit_add_refusal (self->audit, &turned_away);
      return G_SOURCE_CONTINUE;
    }
  g_ptr_array_add (self->connections, sbx_connection_new (g_steal_fd (&accepted), self->policy, self->calls,
                                                          self->audit, on_connection_over, self));
  return G_SOURCE_CONTINUE;
}

static void
listener_watch (SbxListener *self)
{
  self->watch = sbx_source_watch (self->fd, G_IO_IN, on_listener_readable, self);
}

SbxListener *
sbx_listener_new (int fd, const SbxPolicy *policy, SbxCalls *calls, SbxAudit *audit)
{
  SbxListener *self = g_new0 (SbxListener, 1);

  self->fd = fd;
  self->policy = policy;
  self->calls = calls;
  self->audit = audit;
  self->connections = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_connection_free);
  (void) sbx_fd_set_nonblocking (fd, NULL);
  listener_watch (self);
  return self;
}

void
sbx_listener_free (SbxListener *self)
{
  if (self == NULL)
    return;
  sbx_source_clear (&self->watch);
  sbx_source_clear (&self->pause);
  g_ptr_array_unref (self->connections);
  sbx_fd_close (self->fd);
  g_free (self);
}
