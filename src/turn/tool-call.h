/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One call of a host tool: a socket (an operator's own unit), or a method of a bus provider.
 *
 * A socket tool reads one line of JSON that sandboxd alone makes,
 * {"turn","channel","speaker":{"id","name"},"principal"}, then the guest's input as it came, up to the end;
 * it writes text, up to the end. Two parts, so that no input can forge the identity. Closing early is the
 * cancellation. A bus provider is called with (ssssay) turn, channel, speaker id, speaker name, principal
 * (empty where there is none) and input, and answers (s) text.
 */
#pragma once

#include <gio/gio.h>
#include <systemd/sd-bus.h>

#include "wire/bounds.h"
#include "wire/failure.h"

#define SBX_TOOL_DEFAULT_DEADLINE_MSEC 60000u
/* Calls of one tool at once, over all turns; below the 64 connections at which a socket unit starts to reset
 * them. */
#define SBX_TOOL_MAX_RUNNING 32u

/* Where a tool is. Made at start-up from the configuration; shared by reference. */
typedef struct {
  grefcount refs;
  char *name;
  char *socket; /* NULL for a bus provider */
  char *bus_name;
  char *bus_path;
  char *bus_interface;
  char *bus_method;
  guint deadline_msec;
  guint max_calls; /* a turn; 0 where only the turn's budget counts */
  guint running;   /* now, over all turns */
} SbxToolTarget;

SbxToolTarget *sbx_tool_target_new_socket (const char *name, const char *socket);
SbxToolTarget *sbx_tool_target_new_bus (const char *name, const char *bus_name, const char *path,
                                        const char *interface, const char *method);
SbxToolTarget *sbx_tool_target_ref (SbxToolTarget *self);
void sbx_tool_target_unref (SbxToolTarget *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxToolTarget, sbx_tool_target_unref)

/* For whom a tool is called. Borrowed texts; principal may be NULL. */
typedef struct {
  const char *turn;
  const char *channel;
  const char *speaker_id;
  const char *speaker_name;
  const char *principal;
} SbxToolIdentity;

/* The line that a socket tool gets, with its line end. */
GBytes *sbx_tool_identity_line (const SbxToolIdentity *identity);

/* Calls the tool. bus is used for a bus provider only and may be NULL otherwise. target is kept while the
 * call runs. */
void sbx_tool_call_async (SbxToolTarget *target, sd_bus *bus, const SbxToolIdentity *identity, GBytes *input,
                          GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/* SBX_FAILURE_NONE with *ret_text (valid UTF-8 of at most SBX_MAX_ANSWER_BYTES; g_bytes_unref()), or why not:
 * _TOOL_BUSY (at its bound, a reset connection, an empty answer), _TOOL_FAILED, _TOOL_TIMEOUT, _CANCELLED. */
SbxFailure sbx_tool_call_finish (GAsyncResult *result, GBytes **ret_text);
