/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What sandboxd and a turn's broker say to each other over the control socket.
 *
 * From sandboxd: CONFIG once, while the broker is not locked down; it then locks itself down and answers
 * READY. START with two descriptors (the grant to the egress, the worker's attached stream) once, when the
 * turn begins. TOOL_RESULT for each TOOL_CALL, with its id.
 *
 * From the broker: READY, TOOL_CALL, TOOL_CANCEL (same id; a result may still come and is dropped), AUDIT
 * after each call and refusal, and exactly one of REPLY and NO_REPLY after START.
 *
 * sandboxd treats inputs and results of tools as opaque bytes; it reads nothing else that a guest can shape
 * but the reply's text, which the broker has read by the strict JSON gate and this decoder bounds and checks
 * to be UTF-8. Each encoder gives a new array; each decoder returns FALSE with error set, leaving nothing to
 * free.
 */
#pragma once

#include <glib.h>

#include "wire/failure.h"
#include "wire/frame.h"
#include "wire/bounds.h"

/* What each side accepts. */
extern const SbxFrameRule sbx_control_rules_broker[];
extern const gsize sbx_control_n_rules_broker;
extern const SbxFrameRule sbx_control_rules_sandboxd[];
extern const gsize sbx_control_n_rules_sandboxd;

/* CONFIG */
typedef struct {
  char *name;
  char **tools;
} SbxControlServer;

typedef struct {
  guint32 call_budget;
  gboolean reply_at_newline; /* our own image; else the reply counts at the end of output */
  char **tools;              /* host tools on offer */
  GPtrArray *servers;        /* of SbxControlServer */
  /* Members of assistant messages that the operator lets through beside the contract's. */
  char **kept_members;
} SbxControlConfig;

SbxControlConfig *sbx_control_config_new (void); /* empty lists, default budget */
void sbx_control_config_add_server (SbxControlConfig *self, const char *name, const char *const *tools);
void sbx_control_config_free (SbxControlConfig *self);
GByteArray *sbx_control_config_encode (const SbxControlConfig *self);
SbxControlConfig *sbx_control_config_decode (GBytes *payload, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxControlConfig, sbx_control_config_free)

/* START: how long the turn may last from now, in milliseconds. Descriptors: [0] grant, [1] attached stream.
 */
GByteArray *sbx_control_start_encode (guint32 deadline_msec);
gboolean sbx_control_start_decode (GBytes *payload, guint32 *ret_deadline_msec, GError **error);

/* TOOL_CALL: the listed tool's name, and the guest's input as it came (a JSON object, gated by the broker).
 */
GByteArray *sbx_control_tool_call_encode (const char *name, GBytes *input);
gboolean sbx_control_tool_call_decode (GBytes *payload, char **ret_name, GBytes **ret_input, GError **error);

/* TOOL_RESULT: SBX_FAILURE_NONE and the text (valid UTF-8 of at most SBX_MAX_ANSWER_BYTES), or why not. */
GByteArray *sbx_control_tool_result_encode (SbxFailure failure, GBytes *text);
gboolean
sbx_control_tool_result_decode (GBytes *payload, SbxFailure *ret_failure, GBytes **ret_text, GError **error);

/* Files of a workspace that a worker set aside, as bits. */
#define SBX_SET_ASIDE_MEMORY  (1u << 0)
#define SBX_SET_ASIDE_HISTORY (1u << 1)
#define SBX_SET_ASIDE_ALL     (SBX_SET_ASIDE_MEMORY | SBX_SET_ASIDE_HISTORY)

/* REPLY. A decoded text is one that the bus takes (base/text.h) and in its bounds, and a decoded failure is
 * one that a worker has a word for, whatever the broker sent. */
typedef enum {
  SBX_COMPACTION_NONE = 0,
  SBX_COMPACTION_BY_TOOL = 1,
  SBX_COMPACTION_BY_MODEL = 2,
  SBX_COMPACTION_DROPPED = 3,
  _SBX_COMPACTION_LAST = SBX_COMPACTION_DROPPED,
} SbxCompactionBy;

typedef struct {
  gboolean ok;
  char *text; /* at most SBX_MAX_REPLY_UNITS */
  SbxCompactionBy compaction;
  guint8 compaction_reason; /* why an earlier choice was not taken, in wire/reply.h's list; 0: none */
  guint32 compaction_tokens_before;
  SbxFailure failure; /* without a text: why, in the worker's own words; NONE where it gives no reason */
  guint8 set_aside;   /* SBX_SET_ASIDE_… of the files that could not be read */
} SbxControlReply;

void sbx_control_reply_clear (SbxControlReply *self);
GByteArray *sbx_control_reply_encode (const SbxControlReply *self);
gboolean sbx_control_reply_decode (GBytes *payload, SbxControlReply *ret_reply, GError **error);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxControlReply, sbx_control_reply_clear)

/* NO_REPLY: SBX_FAILURE_REPLY_INVALID, _REPLY_TOO_LARGE, or _WORKER_FAILED when output ended with nothing in
 * it. No other is decoded: the rest of the list is not the broker's to tell. */
GByteArray *sbx_control_no_reply_encode (SbxFailure failure);
gboolean sbx_control_no_reply_decode (GBytes *payload, SbxFailure *ret_failure, GError **error);

/* AUDIT, from START on. A broker sends no more of them in a turn: one for each of at most 1,000 calls (Calls=
 * in sandboxd.conf), those of broker/audit.h, and two behind it. */
#define SBX_CONTROL_MAX_AUDITS 1208u

typedef enum {
  SBX_ROUTE_NONE = 0, /* refused before a route was known */
  SBX_ROUTE_MODEL = 1,
  SBX_ROUTE_TOOL = 2,
  SBX_ROUTE_MCP = 3,
  _SBX_ROUTE_LAST = SBX_ROUTE_MCP,
} SbxRoute;

typedef struct {
  SbxRoute route;
  char name[SBX_MAX_NAME_BYTES + 1]; /* tool or server on the list, else empty */
  guint16 status;                    /* what the guest got; 0 for a connection closed without an answer */
  SbxFailure failure;
  guint16 upstream_status; /* 0 where there was none */
  guint32 request_bytes;
  guint32 answer_bytes;
  guint32 duration_msec;
  guint32 prompt_tokens; /* 0 where the endpoint gave no usage */
  guint32 completion_tokens;
  guint32 omitted; /* entries before this one that were not sent: a turn has a bound of them */
} SbxControlAudit;

GByteArray *sbx_control_audit_encode (const SbxControlAudit *self);
gboolean sbx_control_audit_decode (GBytes *payload, SbxControlAudit *ret_audit, GError **error);
