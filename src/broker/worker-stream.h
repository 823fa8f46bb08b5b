/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Reads the worker's attached stream to its one outcome, then to its end: dockerd cannot remove a container
 * whose output nobody reads, so what comes behind the outcome is thrown away, at a bounded rate.
 */
#pragma once

#include <glib.h>

#include "wire/control.h"

typedef struct _SbxWorkerStream SbxWorkerStream;

typedef struct {
  /* Exactly one of them is called, once. Neither may free the stream. reply is borrowed. */
  void (*replied) (const SbxControlReply *reply, gpointer user_data);
  void (*no_reply) (SbxFailure failure, gpointer user_data);
} SbxWorkerStreamEvents;

/* Takes fd. at_newline: worker-output.h. events must be static. */
SbxWorkerStream *
sbx_worker_stream_new (int fd, gboolean at_newline, const SbxWorkerStreamEvents *events, gpointer user_data);
void sbx_worker_stream_free (SbxWorkerStream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWorkerStream, sbx_worker_stream_free)
