/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/worker-stream.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "broker/source.h"
#include "broker/worker-output.h"

#define READ_BYTES (64u * 1024u)
/* Behind the outcome: a burst that any worker may leave, then about 6 MiB a second. */
#define DRAIN_BURST_BYTES (4u * 1024u * 1024u)
#define DRAIN_PAUSE_MSEC  10u

struct _SbxWorkerStream {
  SbxFd fd;
  SbxWorkerOutput *output; /* NULL once the outcome is told */
  gsize drained;
  GSource *watch;
  GSource *pause;
  const SbxWorkerStreamEvents *events;
  gpointer user_data;
};

static void stream_watch (SbxWorkerStream *self);

static gboolean
on_pause_over (gpointer user_data)
{
  SbxWorkerStream *self = user_data;

  sbx_source_clear (&self->pause);
  stream_watch (self);
  return G_SOURCE_REMOVE;
}

static void
stream_drain (SbxWorkerStream *self, gsize n_bytes)
{
  if (self->drained < DRAIN_BURST_BYTES)
    {
      self->drained += n_bytes;
      return;
    }
  sbx_source_clear (&self->watch);
  self->pause = sbx_source_after (DRAIN_PAUSE_MSEC, on_pause_over, self);
}

static void
stream_tell (SbxWorkerStream *self, SbxOutputVerdict verdict, const SbxControlReply *reply,
             SbxFailure failure)
{
  if (verdict == SBX_OUTPUT_MORE)
    return;
  g_clear_pointer (&self->output, sbx_worker_output_free);
  if (verdict == SBX_OUTPUT_REPLY)
    self->events->replied (reply, self->user_data);
  else
    self->events->no_reply (failure, self->user_data);
}

static gboolean
on_stream_readable (int fd, GIOCondition condition, gpointer user_data)
{
  SbxWorkerStream *self = user_data;
  guint8 buffer[READ_BYTES];
  gssize n = read (self->fd, buffer, sizeof buffer);
  g_auto (SbxControlReply) reply = { 0 };
  SbxFailure failure = SBX_FAILURE_NONE;
  SbxOutputVerdict verdict = SBX_OUTPUT_MORE;

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (n <= 0)
    {
      sbx_source_clear (&self->watch);
      sbx_fd_close (g_steal_fd (&self->fd));
      if (self->output != NULL)
        verdict = sbx_worker_output_end (self->output, &reply, &failure);
    }
  else if (self->output != NULL)
    verdict = sbx_worker_output_feed (self->output, buffer, (gsize) n, &reply, &failure);
  else
    stream_drain (self, (gsize) n);
  stream_tell (self, verdict, &reply, failure);
  return G_SOURCE_CONTINUE;
}

static void
stream_watch (SbxWorkerStream *self)
{
  self->watch = sbx_source_watch (self->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_stream_readable, self);
}

SbxWorkerStream *
sbx_worker_stream_new (int fd, gboolean at_newline, const SbxWorkerStreamEvents *events, gpointer user_data)
{
  SbxWorkerStream *self = g_new0 (SbxWorkerStream, 1);

  self->fd = fd;
  self->output = sbx_worker_output_new (at_newline);
  self->events = events;
  self->user_data = user_data;
  (void) sbx_fd_set_nonblocking (fd, NULL);
  stream_watch (self);
  return self;
}

void
sbx_worker_stream_free (SbxWorkerStream *self)
{
  if (self == NULL)
    return;
  sbx_source_clear (&self->watch);
  sbx_source_clear (&self->pause);
  g_clear_pointer (&self->output, sbx_worker_output_free);
  sbx_fd_close (self->fd);
  g_free (self);
}
