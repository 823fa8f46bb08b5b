/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The turn as it comes on standard input (wire contract 1.1), checked. Pure.
 *
 * Besides the contract's members a host may send these of ours, each optional and ignored by a worker that
 * does not know it; null counts as left out: repair      true: unreadable memory and history are set aside
 * and the turn goes on; the reply may then carry members besides ok and text (reply.h) calls       whole
 * number: calls of all routes that the turn may make keep        list of names: members of the model's
 * assistant messages that go back to it as they came remaining_ms  whole number: what is left of the turn's
 * deadline compaction  {"compactor": NAME or null}: summarise history instead of dropping it, by this host
 * tool first
 */
#pragma once

#include <glib.h>

typedef struct {
  const char *name;
  const char *description;
  GVariant *parameters;
} SbxToolSpec;

typedef struct {
  const char *name;
  GArray *tools; /* of SbxToolSpec */
} SbxServerSpec;

/* Borrows every text from root, which it owns. */
typedef struct {
  GVariant *root;
  const char *text;
  const char *speaker_id;
  GVariant *speaker;
  const char *model;
  const char *prompt;
  const char *time_zone;
  gboolean reset;
  GArray *tools;      /* of SbxToolSpec */
  GPtrArray *servers; /* of SbxServerSpec, owned */
  gboolean repair;
  gboolean compaction;
  const char *compactor; /* NULL for none */
  gint64 calls;          /* -1: not said */
  gint64 remaining_ms;   /* -1: not said */
  GPtrArray *keep;       /* of texts, borrowed; NULL-terminated */
} SbxTurnInput;

#define SBX_TURN_INPUT_ERROR (sbx_turn_input_error_quark ())
GQuark sbx_turn_input_error_quark (void);
typedef enum {
  SBX_TURN_INPUT_ERROR_MEMBER, /* missing or of a wrong kind; the text names it */
} SbxTurnInputError;

/* NULL with error set (SBX_JSON_ERROR, SBX_TURN_INPUT_ERROR). No error text holds what a guest or operator
 * wrote. */
SbxTurnInput *sbx_turn_input_read (const char *data, gsize n_bytes, GError **error);
void sbx_turn_input_free (SbxTurnInput *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTurnInput, sbx_turn_input_free)
