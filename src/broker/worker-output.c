/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/worker-output.h"

#include <string.h>

#include "broker/reply.h"

#define HEAD_BYTES    8u
#define STREAM_STDOUT 1u
#define STREAM_STDERR 2u

struct _SbxWorkerOutput {
  gboolean at_newline;
  guint8 head[HEAD_BYTES];
  gsize n_head;   /* bytes of it that have come */
  guint32 n_left; /* bytes of the frame's content that have not */
  GByteArray *output;
  guint64 n_errors;
};

SbxWorkerOutput *
sbx_worker_output_new (gboolean at_newline)
{
  SbxWorkerOutput *self = g_new0 (SbxWorkerOutput, 1);

  self->at_newline = at_newline;
  self->output = g_byte_array_new ();
  return self;
}

void
sbx_worker_output_free (SbxWorkerOutput *self)
{
  if (self == NULL)
    return;
  g_byte_array_unref (self->output);
  g_free (self);
}

static SbxOutputVerdict
no_reply (SbxFailure failure, SbxFailure *ret_failure)
{
  *ret_failure = failure;
  return SBX_OUTPUT_NO_REPLY;
}

/* Reads the first n_bytes of output as the reply. */
static SbxOutputVerdict
finish (SbxWorkerOutput *self, gsize n_bytes, SbxControlReply *ret_reply, SbxFailure *ret_failure)
{
  SbxFailure failure = sbx_reply_read ((const char *) self->output->data, n_bytes, ret_reply);

  return failure == SBX_FAILURE_NONE ? SBX_OUTPUT_REPLY : no_reply (failure, ret_failure);
}

static SbxOutputVerdict
take_output (SbxWorkerOutput *self, const guint8 *data, gsize n_bytes, SbxControlReply *ret_reply,
             SbxFailure *ret_failure)
{
  const guint8 *newline = self->at_newline && n_bytes > 0 ? memchr (data, '\n', n_bytes) : NULL;
  gsize n_taken = newline != NULL ? (gsize) (newline - data) : n_bytes;

  if (n_taken > SBX_MAX_STDOUT_BYTES - self->output->len)
    return no_reply (SBX_FAILURE_REPLY_TOO_LARGE, ret_failure);
  g_byte_array_append (self->output, data, (guint) n_taken);
  return newline != NULL ? finish (self, self->output->len, ret_reply, ret_failure) : SBX_OUTPUT_MORE;
}

/* Reads a head that has come whole. FALSE where it is none of Docker's. */
static gboolean
open_frame (SbxWorkerOutput *self)
{
  guint32 wire;

  memcpy (&wire, self->head + 4, sizeof wire);
  self->n_left = GUINT32_FROM_BE (wire);
  return (self->head[0] == STREAM_STDOUT || self->head[0] == STREAM_STDERR) && self->head[1] == 0
         && self->head[2] == 0 && self->head[3] == 0;
}

SbxOutputVerdict
sbx_worker_output_feed (SbxWorkerOutput *self, const guint8 *data, gsize n_bytes, SbxControlReply *ret_reply,
                        SbxFailure *ret_failure)
{
  while (n_bytes > 0)
    {
      SbxOutputVerdict verdict = SBX_OUTPUT_MORE;
      gsize n_taken;

      if (self->n_head < HEAD_BYTES)
        {
          n_taken = MIN (n_bytes, HEAD_BYTES - self->n_head);
          memcpy (self->head + self->n_head, data, n_taken);
          self->n_head += n_taken;
          if (self->n_head == HEAD_BYTES && !open_frame (self))
            return no_reply (SBX_FAILURE_REPLY_INVALID, ret_failure);
        }
      else
        {
          n_taken = MIN (n_bytes, self->n_left);
          self->n_left -= (guint32) n_taken;
          if (self->head[0] == STREAM_STDOUT)
            verdict = take_output (self, data, n_taken, ret_reply, ret_failure);
          else if ((self->n_errors += n_taken) > SBX_MAX_STDERR_BYTES)
            verdict = no_reply (SBX_FAILURE_REPLY_TOO_LARGE, ret_failure);
        }
      if (verdict != SBX_OUTPUT_MORE)
        return verdict;
      if (self->n_head == HEAD_BYTES && self->n_left == 0)
        self->n_head = 0;
      data += n_taken;
      n_bytes -= n_taken;
    }
  return SBX_OUTPUT_MORE;
}

SbxOutputVerdict
sbx_worker_output_end (SbxWorkerOutput *self, SbxControlReply *ret_reply, SbxFailure *ret_failure)
{
  if (self->output->len == 0)
    return no_reply (SBX_FAILURE_WORKER_FAILED, ret_failure);
  /* Our own worker ends its reply with a line end: without one, the end came too early. */
  if (self->at_newline || self->n_head > 0)
    return no_reply (SBX_FAILURE_REPLY_INVALID, ret_failure);
  return finish (self, self->output->len, ret_reply, ret_failure);
}
