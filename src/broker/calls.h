/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The turn's calls: whether one may be made now, the one in flight, and its way to the egress (model, MCP) or
 * to sandboxd (host tools) and back.
 *
 * A slot and one call of the budget are taken when a request is admitted, before its body is read. A caller
 * that goes away gives the slot back at once, but for a host tool: that is told to stop, and the slot is free
 * once sandboxd says that it has.
 */
#pragma once

#include "broker/audit.h"
#include "broker/policy.h"
#include "wire/frame-link.h"

/* The egress and sandboxd end every call after 60 s by themselves; this is for the case that one of them does
 * not. */
#define SBX_CALL_DEADLINE_MSEC 62000u

typedef struct _SbxCalls SbxCalls;
typedef struct _SbxCall SbxCall;

/* config is copied where needed; control and audit must outlive it. */
SbxCalls *sbx_calls_new (const SbxControlConfig *config, SbxFrameLink *control, SbxAudit *audit);
void sbx_calls_free (SbxCalls *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxCalls, sbx_calls_free)

/* The turn begins: takes grant_fd, the right to call out. Calls are refused with 410 before. */
void sbx_calls_start (SbxCalls *self, int grant_fd);

/* The turn is over: a call in flight fails, later ones are refused with 410. */
void sbx_calls_end (SbxCalls *self);

/* Takes a TOOL_RESULT. FALSE where sandboxd broke the rules. */
gboolean sbx_calls_take_tool_result (SbxCalls *self, const SbxFrame *frame);

/* Checks 6 and 7. Returns 0 with *ret_call set, or 410 or 429. *ret_call is the caller's until it is told
 * done or drops it. target must outlive the call. */
guint sbx_calls_admit (SbxCalls *self, const SbxPolicyTarget *target, SbxCall **ret_call);

/* The call is over and gone. status 200 comes with json (borrowed), others without. */
typedef void (*SbxCallDone) (guint status, GBytes *json, gpointer user_data);

/* Makes the call with that body. done is called once, perhaps before this returns, unless the call is dropped
 * before. */
void sbx_call_make (SbxCall *self, GBytes *body, SbxCallDone done, gpointer user_data);

/* Ends the call with that status, without making it: a body that is too large. Nobody is told. */
void sbx_call_refuse (SbxCall *self, guint status, SbxFailure failure, guint32 request_bytes);

/* The caller went away. */
void sbx_call_drop (SbxCall *self);
