/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "broker/http-head.h"
#include "broker/http-reply.h"
#include "broker/source.h"

#define READ_BYTES 8192u /* a dispatch: a head, and what comes with it. A body is read into its place */

typedef enum {
  CONNECTION_HEAD,
  CONNECTION_BODY,
  CONNECTION_CALL,   /* the answer is on its way; only the peer's leaving matters */
  CONNECTION_ANSWER, /* the answer is being written */
  CONNECTION_LINGER, /* what the peer still sends is thrown away, so that a reset does not eat the answer */
} ConnectionState;

struct _SbxConnection {
  ConnectionState state;
  SbxFd fd;
  const SbxPolicy *policy;
  SbxCalls *calls;
  SbxAudit *audit;
  SbxConnectionOver over;
  gpointer user_data;
  GSource *watch;
  GSource *deadline;
  gint64 begun_usec;
  GByteArray *input; /* the head, and what came with it */
  gsize scanned;     /* of input, in search of the head's end; then the head's length */
  guint8 *body;      /* as long as the head says; only one connection at a time has a call, and so a body */
  gsize body_bytes;
  gsize body_got;
  SbxPolicyTarget target;
  SbxCall *call;
  GBytes *answer;
  gsize written;
  gsize lingered;
};

static gboolean on_connection_ready (int fd, GIOCondition condition, gpointer user_data);

static void
connection_watch (SbxConnection *self, GIOCondition condition)
{
  if (self->watch == NULL)
    self->watch = sbx_source_watch (self->fd, condition, on_connection_ready, self);
  else
    sbx_source_watch_set (self->watch, condition);
}

static void
connection_over (SbxConnection *self)
{
  self->over (self, self->user_data);
}

static void
connection_note (SbxConnection *self, guint status, SbxFailure failure)
{
  SbxControlAudit entry = { .route = self->target.route,
                            .status = (guint16) status,
                            .failure = failure,
                            .request_bytes = (guint32) self->input->len };

  if (self->target.name != NULL)
    g_strlcpy (entry.name, self->target.name, sizeof entry.name);
  entry.duration_msec = (guint32) CLAMP ((g_get_monotonic_time () - self->begun_usec) / 1000, 0, G_MAXINT32);
  sbx_audit_add_refusal (self->audit, &entry);
}

static gboolean
on_connection_deadline (gpointer user_data)
{
  SbxConnection *self = user_data;

  if (self->state == CONNECTION_HEAD)
    connection_note (self, 0, SBX_FAILURE_DEADLINE);
  connection_over (self);
  return G_SOURCE_REMOVE;
}

static void
connection_arm (SbxConnection *self, guint msec)
{
  sbx_source_clear (&self->deadline);
  self->deadline = sbx_source_after (msec, on_connection_deadline, self);
}

/* Sends what the kernel takes now of the answer. FALSE where the peer is gone. */
static gboolean
connection_send (SbxConnection *self)
{
  gsize n_bytes;
  const guint8 *data = g_bytes_get_data (self->answer, &n_bytes);
  gssize n = send (self->fd, data + self->written, n_bytes - self->written, MSG_DONTWAIT | MSG_NOSIGNAL);

  if (n < 0)
    return errno == EAGAIN || errno == EINTR;
  self->written += (gsize) n;
  if (self->written < n_bytes)
    return TRUE;
  g_clear_pointer (&self->answer, g_bytes_unref);
  (void) shutdown (self->fd, SHUT_WR); /* fails where the peer is gone, which the next read tells */
  self->state = CONNECTION_LINGER;
  connection_arm (self, SBX_CONNECTION_LINGER_MSEC);
  connection_watch (self, G_IO_IN);
  return TRUE;
}

/* Takes the answer. */
static void
connection_answer (SbxConnection *self, GBytes *answer)
{
  self->state = CONNECTION_ANSWER;
  self->answer = answer;
  g_byte_array_set_size (self->input, 0);
  connection_arm (self, SBX_CONNECTION_ANSWER_MSEC);
  /* Tried at once: nearly every answer fits, and the worker waits for it. A peer that is gone is told by the
   * loop, since whoever gives us the answer must find us here afterwards. */
  if (!connection_send (self) || self->state == CONNECTION_ANSWER)
    connection_watch (self, G_IO_OUT);
}

static void
connection_refuse (SbxConnection *self, guint status, SbxFailure failure)
{
  connection_note (self, status, failure);
  connection_answer (self, sbx_http_reply_refusal (status));
}

static void
on_call_done (guint status, GBytes *json, gpointer user_data)
{
  SbxConnection *self = user_data;

  self->call = NULL;
  connection_answer (self, status == 200 ? sbx_http_reply_json (json) : sbx_http_reply_refusal (status));
}

/* --- reading --- */

static void
connection_make_call (SbxConnection *self)
{
  g_autoptr (GBytes) body = g_bytes_new_take (g_steal_pointer (&self->body), self->body_bytes);
  SbxCall *call = self->call;

  self->state = CONNECTION_CALL;
  g_byte_array_set_size (self->input, 0);
  sbx_source_clear (&self->deadline);
  connection_watch (self, 0);
  sbx_call_make (call, body, on_call_done, self);
}

/* Goes on with the body; what comes behind it is never read as a second request. */
static void
connection_read_body (SbxConnection *self)
{
  if (self->body_got == self->body_bytes)
    connection_make_call (self);
}

/* Checks a head that is whole and admits its call. */
static void
connection_take_head (SbxConnection *self)
{
  SbxHttpHead head;
  SbxHttpVerdict verdict = sbx_http_head_parse ((const char *) self->input->data, self->scanned, &head);
  gint64 spent_msec = (g_get_monotonic_time () - self->begun_usec) / 1000;
  guint status;

  if (verdict != SBX_HTTP_HEAD_WHOLE)
    {
      connection_refuse (self, verdict == SBX_HTTP_HEAD_BAD ? 400 : 431, SBX_FAILURE_RULES);
      return;
    }
  status = sbx_policy_check_head (self->policy, &head, &self->target);
  if (status == 0)
    status = sbx_calls_admit (self->calls, &self->target, &self->call);
  if (status != 0)
    {
      connection_refuse (self, status, status == 429 ? SBX_FAILURE_BUDGET_SPENT : SBX_FAILURE_RULES);
      return;
    }
  if (head.content_length > SBX_MAX_BODY_BYTES)
    {
      sbx_call_refuse (g_steal_pointer (&self->call), 502, SBX_FAILURE_RULES,
                       (guint32) MIN (head.content_length, (guint64) G_MAXUINT32));
      connection_answer (self, sbx_http_reply_refusal (502));
      return;
    }
  self->state = CONNECTION_BODY;
  self->body_bytes = (gsize) head.content_length;
  self->body = g_malloc (MAX (self->body_bytes, 1));
  self->body_got = MIN (self->input->len - self->scanned, self->body_bytes);
  memcpy (self->body, self->input->data + self->scanned, self->body_got);
  connection_arm (self,
                  SBX_CONNECTION_REQUEST_MSEC - (guint) CLAMP (spent_msec, 0, SBX_CONNECTION_HEAD_MSEC));
  connection_read_body (self);
}

static void
connection_read_head (SbxConnection *self)
{
  switch (sbx_http_head_find ((const char *) self->input->data, self->input->len, &self->scanned))
    {
    case SBX_HTTP_HEAD_MORE:
      return;
    case SBX_HTTP_HEAD_WHOLE:
      connection_take_head (self);
      return;
    case SBX_HTTP_HEAD_TOO_LARGE:
      connection_refuse (self, 431, SBX_FAILURE_RULES);
      return;
    case SBX_HTTP_HEAD_BAD:
    default:
      connection_refuse (self, 400, SBX_FAILURE_RULES);
      return;
    }
}

static void
connection_read (SbxConnection *self)
{
  guint8 buffer[READ_BYTES];
  gboolean in_head = self->state == CONNECTION_HEAD;
  gssize n = in_head ? read (self->fd, buffer, sizeof buffer)
                     : read (self->fd, self->body + self->body_got, self->body_bytes - self->body_got);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n <= 0)
    {
      /* The end before a whole request: nobody is owed an answer. */
      connection_over (self);
      return;
    }
  if (in_head)
    {
      g_byte_array_append (self->input, buffer, (guint) n);
      connection_read_head (self);
      return;
    }
  self->body_got += (gsize) n;
  connection_read_body (self);
}

/* --- answering --- */

static void
connection_write (SbxConnection *self)
{
  if (!connection_send (self))
    connection_over (self);
}

static void
connection_linger (SbxConnection *self)
{
  guint8 buffer[READ_BYTES];
  gssize n = read (self->fd, buffer, sizeof buffer);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n > 0)
    self->lingered += (gsize) n;
  if (n <= 0 || self->lingered > SBX_CONNECTION_LINGER_BYTES)
    connection_over (self);
}

/* At most one step, after which self may be gone. */
static gboolean
on_connection_ready (int fd, GIOCondition condition, gpointer user_data)
{
  SbxConnection *self = user_data;

  switch (self->state)
    {
    case CONNECTION_HEAD:
    case CONNECTION_BODY:
      connection_read (self);
      break;
    case CONNECTION_CALL:
      /* Hung up in both directions; a peer that only ended its own sending still waits for the answer
       * (unix(7): no POLLHUP for a half close). */
      connection_over (self);
      break;
    case CONNECTION_ANSWER:
      connection_write (self);
      break;
    case CONNECTION_LINGER:
      connection_linger (self);
      break;
    default:
      g_assert_not_reached ();
    }
  return G_SOURCE_CONTINUE;
}

SbxConnection *
sbx_connection_new (int fd, const SbxPolicy *policy, SbxCalls *calls, SbxAudit *audit, SbxConnectionOver over,
                    gpointer user_data)
{
  SbxConnection *self = g_new0 (SbxConnection, 1);

  self->fd = fd;
  self->policy = policy;
  self->calls = calls;
  self->audit = audit;
  self->over = over;
  self->user_data = user_data;
  self->begun_usec = g_get_monotonic_time ();
  self->input = g_byte_array_new ();
  connection_arm (self, SBX_CONNECTION_HEAD_MSEC);
  connection_watch (self, G_IO_IN);
  return self;
}

void
sbx_connection_free (SbxConnection *self)
{
  if (self == NULL)
    return;
  sbx_source_clear (&self->watch);
  sbx_source_clear (&self->deadline);
  if (self->call != NULL)
    sbx_call_drop (self->call);
  g_byte_array_unref (self->input);
  g_free (self->body);
  g_clear_pointer (&self->answer, g_bytes_unref);
  sbx_fd_close (self->fd);
  g_free (self);
}
