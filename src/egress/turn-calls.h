/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The calls that one grant allows, whatever the broker at its other end claims: a budget, one call in flight,
 * an end.
 */
#pragma once

#include <glib.h>

#include "egress/endpoints.h"
#include "egress/upstream.h"
#include "wire/grant.h"

typedef struct _SbxTurnCalls SbxTurnCalls;

/* answer is borrowed for the call. The handler must not free the calls. */
typedef void (*SbxTurnAnswer) (guint32 id, const SbxGrantAnswer *answer, gpointer user_data);

/* Takes grant; references endpoints. */
SbxTurnCalls *sbx_turn_calls_new (SbxUpstream *upstream, SbxEndpoints *endpoints, SbxGrant *grant,
                                  SbxTurnAnswer answer, gpointer user_data);
/* Cancels what is under way; nothing is answered. NULL is fine. */
void sbx_turn_calls_free (SbxTurnCalls *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTurnCalls, sbx_turn_calls_free)

const SbxGrant *sbx_turn_calls_grant (const SbxTurnCalls *self);

/* From a reload on, its keys are looked for too. References current. */
void sbx_turn_calls_set_current (SbxTurnCalls *self, SbxEndpoints *current);

/* Takes one call off the budget. FALSE: there is none left, or the turn's time is up. */
gboolean sbx_turn_calls_charge (SbxTurnCalls *self);

/* Make a call, or answer at once why not. FALSE: a call is in flight already, which no honest broker asks
 * for; nothing is answered. */
gboolean sbx_turn_calls_model (SbxTurnCalls *self, guint32 id, GBytes *messages, GBytes *tools);
gboolean
sbx_turn_calls_mcp (SbxTurnCalls *self, guint32 id, const char *server, const char *tool, GBytes *arguments);

/* Ends the call in flight where it has this id; it is answered SBX_FAILURE_CANCELLED. */
void sbx_turn_calls_cancel (SbxTurnCalls *self, guint32 id);
