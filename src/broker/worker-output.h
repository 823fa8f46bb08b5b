/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Takes a worker's output apart, as Docker's attached stream carries it without a terminal, up to the one
 * reply. Pure.
 *
 *   byte 0      1 standard output, 2 standard error
 *   bytes 1-3   zero
 *   bytes 4-7   length, big-endian
 *   then that many bytes; frames may be cut anywhere by the reads.
 *
 * Standard output is kept up to SBX_MAX_STDOUT_BYTES, standard error only counted, up to
 * SBX_MAX_STDERR_BYTES.
 */
#pragma once

#include <glib.h>

#include "wire/control.h"

typedef struct _SbxWorkerOutput SbxWorkerOutput;

/* at_newline: the reply is what stands before the first line end; else all of standard output up to its end.
 */
SbxWorkerOutput *sbx_worker_output_new (gboolean at_newline);
void sbx_worker_output_free (SbxWorkerOutput *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWorkerOutput, sbx_worker_output_free)

typedef enum {
  SBX_OUTPUT_MORE,
  SBX_OUTPUT_REPLY,    /* *ret_reply is set */
  SBX_OUTPUT_NO_REPLY, /* *ret_failure is set: _REPLY_INVALID, _REPLY_TOO_LARGE, _WORKER_FAILED */
} SbxOutputVerdict;

/* Takes the next bytes. Not to be called again after another verdict than MORE. */
SbxOutputVerdict sbx_worker_output_feed (SbxWorkerOutput *self, const guint8 *data, gsize n_bytes,
                                         SbxControlReply *ret_reply, SbxFailure *ret_failure);

/* The stream has ended: REPLY or NO_REPLY. */
SbxOutputVerdict
sbx_worker_output_end (SbxWorkerOutput *self, SbxControlReply *ret_reply, SbxFailure *ret_failure);
