/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A broker without a model behind it, for the self-test of a worker's image: it holds each request against
 * the rules of the real one (the same code), answers from a script, and remembers which rule was broken.
 *
 * The script: the first answer asks for the host tool SBX_JUDGE_TOOL under whatever name the worker has
 * offered it, where it has; every other is SBX_JUDGE_TEXT.
 */
#pragma once

#include <glib.h>

#define SBX_JUDGE_TOOL "selftest"
#define SBX_JUDGE_TEXT "The self-test was passed."

typedef struct _SbxJudge SbxJudge;

/* Listens at socket_path, in the default main context. NULL with error set (G_IO_ERROR). */
SbxJudge *sbx_judge_new (const char *socket_path, GError **error);
void sbx_judge_free (SbxJudge *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxJudge, sbx_judge_free)

/* Before each turn: forgets what was seen; with model_fails each model call gets 502, as when upstream is
 * down. */
void sbx_judge_begin (SbxJudge *self, gboolean model_fails);

guint sbx_judge_n_model_calls (const SbxJudge *self);
guint sbx_judge_n_connections (const SbxJudge *self);
/* The first rule that a request broke, in words; NULL where none did. Borrowed, until the next turn. */
const char *sbx_judge_fault (const SbxJudge *self);

/* The script's answer to a request's body: a chat completion as JSON. *asked: whether the tool was asked for
 * before; set when it is now. Pure; for tests. */
char *sbx_judge_answer (const char *body, gsize n_bytes, gboolean *asked);
