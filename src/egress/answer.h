/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* From what an endpoint sent to what a guest may have: one JSON value, read by the gate (of a repeated name
 * the last counts), searched for live keys, written anew. Pure.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "egress/reflection.h"
#include "wire/failure.h"

typedef struct {
  GBytes *json;          /* NULL on failure */
  guint32 prompt_tokens; /* usage of an OpenAI-like answer, 0 where it gives none */
  guint32 completion_tokens;
} SbxAnswer;

/* SBX_FAILURE_NONE with *ret_answer (the caller's to unref), _MODEL_ANSWER (not JSON, too large) or
 * _KEY_REFLECTED. Blank lines before the value are no fault: some endpoints keep a connection warm with them.
 */
SbxFailure
sbx_answer_read (const char *data, gsize n_bytes, const SbxReflection *reflection, SbxAnswer *ret_answer);

/* The same from a tree. */
SbxFailure sbx_answer_from_node (JsonNode *node, const SbxReflection *reflection, SbxAnswer *ret_answer);
