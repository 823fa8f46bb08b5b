/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/session.h"

#include "base/fd.h"
#include "broker/listener.h"
#include "broker/worker-stream.h"

struct _SbxSession {
  SbxFd listen_fd; /* until it is locked down */
  const SbxSessionEvents *events;
  gpointer user_data;
  SbxFrameLink *control;
  gboolean reply_at_newline;
  gboolean started;
  SbxPolicy *policy; /* NULL before CONFIG */
  SbxAudit *audit;
  SbxCalls *calls;
  SbxListener *listener;
  SbxWorkerStream *stream;
};

/* --- the worker's outcome --- */

/* The turn is over, whatever a worker that lingers still asks for. Without a way to tell the outcome it
 * cannot end well, so the process does not outlive it. */
static void
session_tell (SbxSession *self, SbxFrameType type, GByteArray *payload)
{
  sbx_calls_end (self->calls);
  sbx_audit_flush (self->audit);
  if (!sbx_frame_link_send_packed (self->control, type, 0, payload, NULL))
    self->events->over (TRUE, self->user_data);
}

static void
on_worker_replied (const SbxControlReply *reply, gpointer user_data)
{
  session_tell (user_data, SBX_FRAME_REPLY, sbx_control_reply_encode (reply));
}

static void
on_worker_no_reply (SbxFailure failure, gpointer user_data)
{
  session_tell (user_data, SBX_FRAME_NO_REPLY, sbx_control_no_reply_encode (failure));
}

static const SbxWorkerStreamEvents stream_events = { .replied = on_worker_replied,
                                                     .no_reply = on_worker_no_reply };

/* --- frames of sandboxd --- */

static gboolean
session_configure (SbxSession *self, SbxFrame *frame)
{
  g_autoptr (SbxControlConfig) config = NULL;

  if (self->policy != NULL)
    return FALSE;
  config = sbx_control_config_decode (frame->payload, NULL);
  if (config == NULL)
    return FALSE;
  self->reply_at_newline = config->reply_at_newline;
  self->policy = sbx_policy_new (config);
  self->audit = sbx_audit_new (self->control);
  self->calls = sbx_calls_new (config, self->control, self->audit);
  if (!self->events->lock (self->user_data)
      || !sbx_frame_link_send (self->control, SBX_FRAME_READY, 0, NULL, NULL, 0, NULL))
    return FALSE;
  self->listener = sbx_listener_new (g_steal_fd (&self->listen_fd), self->policy, self->calls, self->audit);
  return TRUE;
}

static gboolean
session_start (SbxSession *self, SbxFrame *frame)
{
  guint32 deadline_msec; /* sandboxd's and the egress's to keep */

  if (self->policy == NULL || self->started
      || !sbx_control_start_decode (frame->payload, &deadline_msec, NULL))
    return FALSE;
  self->started = TRUE;
  sbx_audit_begin (self->audit);
  sbx_calls_start (self->calls, g_steal_fd (&frame->fds[0]));
  self->stream =
    sbx_worker_stream_new (g_steal_fd (&frame->fds[1]), self->reply_at_newline, &stream_events, self);
  return TRUE;
}

static gboolean
on_control_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  SbxSession *self = user_data;

  switch ((guint) frame->head.type)
    {
    case SBX_FRAME_CONFIG:
      return session_configure (self, frame);
    case SBX_FRAME_START:
      return session_start (self, frame);
    case SBX_FRAME_TOOL_RESULT:
      return self->started && sbx_calls_take_tool_result (self->calls, frame);
    default:
      return FALSE;
    }
}

static void
on_control_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  SbxSession *self = user_data;

  self->events->over (error != NULL, self->user_data);
}

static const SbxFrameLinkEvents control_events = { .frame = on_control_frame, .closed = on_control_closed };

SbxSession *
sbx_session_new (int control_fd, int listen_fd, const SbxSessionEvents *events, gpointer user_data)
{
  SbxSession *self = g_new0 (SbxSession, 1);

  self->listen_fd = listen_fd;
  self->events = events;
  self->user_data = user_data;
  self->control = sbx_frame_link_new (control_fd, sbx_control_rules_broker, sbx_control_n_rules_broker,
                                      &control_events, self);
  return self;
}

void
sbx_session_free (SbxSession *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->stream, sbx_worker_stream_free);
  g_clear_pointer (&self->listener, sbx_listener_free);
  g_clear_pointer (&self->calls, sbx_calls_free);
  g_clear_pointer (&self->audit, sbx_audit_free);
  g_clear_pointer (&self->policy, sbx_policy_free);
  sbx_frame_link_free (self->control);
  sbx_fd_close (self->listen_fd);
  g_free (self);
}
