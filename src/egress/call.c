/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/call.h"

#include "egress/retry.h"

struct _SbxCall {
  SbxUpstream *upstream;
  SbxUpstreamRequest request;
  gboolean may_repeat;
  void (*again) (gpointer user_data);
  char *accept;
  char **headers;
  gint64 end_usec;
  guint tries_made;
  SbxTransfer *transfer; /* NULL between tries */
  guint pause;           /* source id, between tries */
  SbxCallDone done;
  gpointer user_data;
};

static void
call_free (SbxCall *self)
{
  g_bytes_unref (self->request.body);
  sbx_secret_unref (self->request.key);
  g_free (self->accept);
  g_strfreev (self->headers);
  g_free (self);
}

static guint
left_msec (const SbxCall *self)
{
  return (guint) MAX ((self->end_usec - g_get_monotonic_time ()) / 1000, 0);
}

static gboolean
on_piece (const char *content_type, const char *data, gsize n_bytes, gpointer user_data)
{
  SbxCall *self = user_data;

  return self->request.piece (content_type, data, n_bytes, self->user_data);
}

static void on_try_done (const SbxUpstreamResult *result, gpointer user_data);

static void
start_try (SbxCall *self)
{
  SbxUpstreamRequest request = self->request;

  request.timeout_msec = MAX (left_msec (self), 1u);
  request.piece = self->request.piece != NULL ? on_piece : NULL;
  self->tries_made++;
  self->transfer = sbx_upstream_start (self->upstream, &request, on_try_done, self);
}

static gboolean
on_pause_over (gpointer user_data)
{
  SbxCall *self = user_data;

  self->pause = 0;
  if (self->again != NULL)
    self->again (self->user_data);
  start_try (self);
  return G_SOURCE_REMOVE;
}

static void
on_try_done (const SbxUpstreamResult *result, gpointer user_data)
{
  SbxCall *self = user_data;
  SbxUpstreamResult last = *result;
  SbxRetryQuestion question = {
    .tries_made = self->tries_made,
    .status = result->status,
    .connection_refused = result->connection_refused,
    .may_repeat = self->may_repeat,
    .retry_after = result->retry_after,
    .now_sec = g_get_real_time () / G_USEC_PER_SEC,
    .left_msec = left_msec (self),
    .dice = g_random_int (),
  };
  guint delay_msec = 0;
  SbxRetryVerdict verdict =
    result->failure == SBX_FAILURE_NONE ? SBX_RETRY_NO : sbx_retry_decide (&question, &delay_msec);

  self->transfer = NULL;
  if (verdict == SBX_RETRY_AGAIN)
    {
      self->pause = g_timeout_add (delay_msec, on_pause_over, self);
      return;
    }
  if (verdict == SBX_RETRY_TOO_LATE)
    {
      last.failure = SBX_FAILURE_RATE_LIMITED;
      last.detail = "retry-after";
    }
  self->done (&last, verdict == SBX_RETRY_TOO_LATE ? delay_msec / 1000 : 0, self->user_data);
  call_free (self);
}

SbxCall *
sbx_call_start (SbxUpstream *upstream, const SbxCallRequest *request, SbxCallDone done, gpointer user_data)
{
  SbxCall *self = g_new0 (SbxCall, 1);

  self->upstream = upstream;
  self->request = request->request;
  self->may_repeat = request->may_repeat;
  self->again = request->again;
  self->request.body = g_bytes_ref (request->request.body);
  self->request.key = request->request.key != NULL ? sbx_secret_ref (request->request.key) : NULL;
  self->request.accept = self->accept = g_strdup (request->request.accept);
  self->headers = g_strdupv ((char **) request->request.headers);
  self->request.headers = (const char *const *) self->headers;
  self->end_usec =
    g_get_monotonic_time () + (gint64) MIN (request->request.timeout_msec, SBX_UPSTREAM_MAX_MSEC) * 1000;
  self->done = done;
  self->user_data = user_data;
  start_try (self);
  return self;
}

void
sbx_call_cancel (SbxCall *self)
{
  if (self == NULL)
    return;
  if (self->transfer != NULL)
    sbx_transfer_cancel (self->transfer);
  if (self->pause != 0)
    (void) g_source_remove (self->pause);
  call_free (self);
}
