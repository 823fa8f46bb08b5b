/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/listener.h"

#include <errno.h>
#include <glib-unix.h>
#include <sys/socket.h>

#include "base/fd.h"

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

static void
clear_source (GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static gboolean
on_pause_over (gpointer user_data)
{
  SbxListener *self = user_data;

  clear_source (&self->pause);
  listener_watch (self);
  return G_SOURCE_REMOVE;
}

static void
listener_pause (SbxListener *self)
{
  clear_source (&self->watch);
  self->pause = g_timeout_source_new (PAUSE_MSEC);
  g_source_set_callback (self->pause, on_pause_over, self, NULL);
  g_source_attach (self->pause, g_main_context_get_thread_default ());
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
      sbx_audit_add (self->audit, &turned_away);
      return G_SOURCE_CONTINUE;
    }
  g_ptr_array_add (self->connections, sbx_connection_new (g_steal_fd (&accepted), self->policy, self->calls,
                                                          self->audit, on_connection_over, self));
  return G_SOURCE_CONTINUE;
}

static void
listener_watch (SbxListener *self)
{
  self->watch = g_unix_fd_source_new (self->fd, G_IO_IN);
  g_source_set_callback (self->watch, G_SOURCE_FUNC (on_listener_readable), self, NULL);
  g_source_attach (self->watch, g_main_context_get_thread_default ());
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
  clear_source (&self->watch);
  clear_source (&self->pause);
  g_ptr_array_unref (self->connections);
  sbx_fd_close (self->fd);
  g_free (self);
}
