/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a model answered (wire contract 3.6), taken apart. Pure.
 *
 * Endpoints differ more than their documentation: content may be missing, null or a list of parts, arguments
 * text or an object, the finish reason anything. So calls are what a message holds, whatever reason it gives
 * for ending.
 */
#pragma once

#include <glib.h>

#include "toolbox.h"

#define SBX_ANSWER_MAX_CALLS      8u
#define SBX_ANSWER_CONTENT_BYTES  4096u
#define SBX_ANSWER_ARGUMENT_BYTES 2048u
/* What the model is shown of arguments that were too large or no text. */
#define SBX_ANSWER_OMITTED "{\"omitted\":\"The arguments were too large or not valid and are not shown.\"}"
/* All kept members of a message and its calls together; one that does not fit any more is left out. */
#define SBX_ANSWER_KEPT_BYTES 65536u

typedef enum {
  SBX_ANSWER_BROKEN,   /* not of the shape of an answer */
  SBX_ANSWER_EMPTY,    /* no calls, and no text but blanks */
  SBX_ANSWER_TOO_LONG, /* a text of more than 100,000 units */
  SBX_ANSWER_TOO_MANY, /* more than 8 calls */
  SBX_ANSWER_FINAL,
  SBX_ANSWER_CALLS,
} SbxAnswerKind;

typedef struct {
  char *id;
  char *name;          /* as shown to the model: offered, or the placeholder */
  const SbxTool *tool; /* borrowed from the toolbox */
  char *arguments;     /* as the model gave them, or NULL for none that could be run */
} SbxCall;

typedef struct {
  SbxAnswerKind kind;
  char *text;         /* FINAL: blanks cut */
  gboolean cut_short; /* FINAL: the endpoint says that its length limit ended the text */
  GPtrArray *calls;   /* CALLS: of SbxCall */
  char *message;      /* CALLS: the assistant message for the next request, as JSON */
} SbxAnswer;

/* Ids used so far in the turn: made with g_str_hash, owned keys. step counts the turn's answers, from 0. root
 * may be of any kind. keep is NULL-terminated. */
SbxAnswer *sbx_answer_new (GVariant *root, SbxToolbox *toolbox, GHashTable *used_ids, guint step,
                           const char *const *keep);
/* Only the final text of an answer, or NULL for one that is no such text. */
char *sbx_answer_text (GVariant *root);
void sbx_answer_free (SbxAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxAnswer, sbx_answer_free)
