/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* POLLRDHUP */
#endif
#include "turn/sandbox-private.h"

#include <poll.h>

#include "base/source.h"
#include "turn/scope-process.h"

/* The end of the stream, but not what may be in it: a worker's bytes are not for us to read. GLib hands a
 * condition's bits to poll() as they are. */
#define STREAM_ENDED ((GIOCondition) POLLRDHUP)

static gboolean
on_ended (int fd, GIOCondition condition, gpointer user_data)
{
  g_autoptr (SbxSandbox) self = sbx_sandbox_ref (user_data);

  sbx_sandbox_watch_end (self);
  sbx_sandbox_exited (self, -1);
  return G_SOURCE_REMOVE;
}

void
sbx_sandbox_watch_begin (SbxSandbox *self)
{
  self->worker_fd = sbx_scope_process_open (NULL, self->container_id);
  self->stream_source =
    sbx_source_watch_fd (self->stream_fd, STREAM_ENDED, G_PRIORITY_DEFAULT, on_ended, self);
  if (self->worker_fd >= 0)
    self->worker_source = sbx_source_watch_fd (self->worker_fd, G_IO_IN, G_PRIORITY_DEFAULT, on_ended, self);
}

void
sbx_sandbox_watch_end (SbxSandbox *self)
{
  sbx_source_clear (&self->stream_source);
  sbx_source_clear (&self->worker_source);
  sbx_fd_close (g_steal_fd (&self->worker_fd));
}

gboolean
sbx_sandbox_watch_sees_end (SbxSandbox *self)
{
  struct pollfd fds[] = { { .fd = self->stream_fd, .events = POLLRDHUP },
                          { .fd = self->worker_fd, .events = POLLIN } };

  return poll (fds, G_N_ELEMENTS (fds), 0) > 0;
}
