/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What goes to and from sandbox-egress.
 *
 * A connection to the egress is one of two things, by its first frame, and only sandboxd's uid may make one:
 *
 * A turn's grant: ANNOUNCE from sandboxd, answered by GRANTED; sandboxd then passes the descriptor to the
 * turn's broker, which makes its calls on it (MODEL_CALL, MCP_CALL, CALL_CANCEL, answered by ANSWER with the
 * call's id), and keeps a copy to shut down. The egress enforces budget, one call in flight, routes and
 * deadline by itself.
 *
 * A service connection: SERVICE, then CHARGE, SCAN and RELOAD from sandboxd, in any order, each answered by
 * its id.
 *
 * Encoders give a new array; decoders return FALSE (or NULL) with error set, leaving nothing to free.
 */
#pragma once

#include <glib.h>

#include "wire/failure.h"
#include "wire/frame.h"
#include "wire/bounds.h"

/* What the egress accepts; which of them when is its state's matter. */
extern const SbxFrameRule sbx_grant_rules_egress[];
extern const gsize sbx_grant_n_rules_egress;
/* What broker and sandboxd accept from it. */
extern const SbxFrameRule sbx_grant_rules_client[];
extern const gsize sbx_grant_n_rules_client;

/* ANNOUNCE */
typedef struct {
  char *turn;
  char *channel;
  char *speaker;
  guint32 deadline_msec; /* from now */
  guint32 call_budget;   /* all routes together, host tools included */
  char **servers;        /* MCP servers on offer */
} SbxGrant;

SbxGrant *sbx_grant_new (const char *turn, const char *channel, const char *speaker, guint32 deadline_msec,
                         guint32 call_budget, const char *const *servers);
void sbx_grant_free (SbxGrant *self);
GByteArray *sbx_grant_encode (const SbxGrant *self);
SbxGrant *sbx_grant_decode (GBytes *payload, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxGrant, sbx_grant_free)

/* GRANTED, CHARGED, SCANNED: a verdict. GRANTED carries SBX_FAILURE_NONE or why not (_KEY_MISSING,
 * _INTERNAL); CHARGED SBX_FAILURE_NONE or _BUDGET_SPENT; SCANNED SBX_FAILURE_NONE or _KEY_REFLECTED. */
GByteArray *sbx_grant_verdict_encode (SbxFailure failure);
gboolean sbx_grant_verdict_decode (GBytes *payload, SbxFailure *ret_failure, GError **error);

/* CHARGE: takes one call off the budget of the turn named. */
GByteArray *sbx_grant_charge_encode (const char *turn);
gboolean sbx_grant_charge_decode (GBytes *payload, char **ret_turn, GError **error);

/* SCAN: the payload is the bytes to search, as they are. RELOAD: empty. */

/* RELOADED: whether the new configuration is in force, and if not the whole complaint for a person. */
GByteArray *sbx_grant_reloaded_encode (gboolean ok, const char *complaint);
gboolean sbx_grant_reloaded_decode (GBytes *payload, gboolean *ret_ok, char **ret_complaint, GError **error);

/* MODEL_CALL: messages as a JSON list; tools as a JSON list or NULL where the guest sent none. */
GByteArray *sbx_grant_model_call_encode (GBytes *messages, GBytes *tools);
gboolean
sbx_grant_model_call_decode (GBytes *payload, GBytes **ret_messages, GBytes **ret_tools, GError **error);

/* MCP_CALL: arguments as a JSON object. */
GByteArray *sbx_grant_mcp_call_encode (const char *server, const char *tool, GBytes *arguments);
gboolean sbx_grant_mcp_call_decode (GBytes *payload, char **ret_server, char **ret_tool,
                                    GBytes **ret_arguments, GError **error);

/* ANSWER */
typedef struct {
  SbxFailure failure;      /* SBX_FAILURE_NONE: json holds the answer */
  guint16 upstream_status; /* 0 where there was none */
  guint32 retry_after_sec; /* with SBX_FAILURE_RATE_LIMITED */
  guint32 prompt_tokens;
  guint32 completion_tokens;
  GBytes *json; /* NULL on failure; at most SBX_MAX_ANSWER_BYTES */
} SbxGrantAnswer;

void sbx_grant_answer_clear (SbxGrantAnswer *self);
GByteArray *sbx_grant_answer_encode (const SbxGrantAnswer *self);
gboolean sbx_grant_answer_decode (GBytes *payload, SbxGrantAnswer *ret_answer, GError **error);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxGrantAnswer, sbx_grant_answer_clear)
