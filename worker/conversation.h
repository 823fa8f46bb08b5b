/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The messages of a turn, and how they are kept within a request's size (wire contract 3.3-3.5). Pure.
 *
 * What goes first is the oldest of the history, then the oldest group of calls: an assistant message with all
 * its tool messages, never a part of one, since endpoints refuse a tool message whose call they have not
 * seen.
 */
#pragma once

#include <glib.h>

#define SBX_REQUEST_MAX_BYTES     196608u
#define SBX_HISTORY_MESSAGE_BYTES 8192u
#define SBX_USER_MESSAGE_BYTES    49152u
#define SBX_PROMPT_BYTES          8192u
#define SBX_MEMORY_LIST_BYTES     4096u
#define SBX_TOOL_RESULT_BYTES     4096u

typedef struct _SbxConversation SbxConversation;

/* model, and tools as a JSON list, stand in every request. */
SbxConversation *
sbx_conversation_new (const char *model, const char *tools_json, const char *system, const char *user);
void sbx_conversation_free (SbxConversation *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxConversation, sbx_conversation_free)

/* Oldest first; content is cut. role is "user" or "assistant". */
void sbx_conversation_add_history (SbxConversation *self, const char *role, const char *content);

/* An assistant message with calls, as JSON; the results of its calls follow, each cut. */
void sbx_conversation_begin_group (SbxConversation *self, const char *assistant_json);
void sbx_conversation_add_result (SbxConversation *self, const char *call_id, const char *result);

/* The next request, within SBX_REQUEST_MAX_BYTES; what had to be dropped for it stays dropped. NULL where
 * system and current message alone are too much. */
GString *sbx_conversation_request (SbxConversation *self);

/* History messages that the next request would drop. */
guint sbx_conversation_n_dropped (const SbxConversation *self);
