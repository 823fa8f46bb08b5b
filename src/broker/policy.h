/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a request is answered before its body is read: the checks of the wire contract (2.2) in their order.
 * Pure.
 *
 * Paths are compared byte for byte as they were sent: nothing is decoded, no dot segment resolved, no case
 * folded.
 */
#pragma once

#include <glib.h>

#include "broker/http-head.h"
#include "wire/control.h"

typedef struct _SbxPolicy SbxPolicy;

/* Keeps what it needs of config. */
SbxPolicy *sbx_policy_new (const SbxControlConfig *config);
void sbx_policy_free (SbxPolicy *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPolicy, sbx_policy_free)

typedef struct {
  SbxRoute route;
  const char *name;         /* of the tool or server, from the policy's own list; "" for the model */
  const char *const *tools; /* of an MCP server: those that may be called; NULL otherwise */
} SbxPolicyTarget;

/* Checks 1 to 5. Returns 0 with *ret_target set, or the status that refuses the request: 403 or 404, or 400
 * for a header of the list that comes twice, since readers do not agree on which of the two counts. */
guint sbx_policy_check_head (const SbxPolicy *self, const SbxHttpHead *head, SbxPolicyTarget *ret_target);

/* Checks 6 and 7. Returns 0, 410 or 429. */
guint sbx_policy_check_turn (gboolean turn_runs, gboolean call_in_flight, guint32 calls_left);
