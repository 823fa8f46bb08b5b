/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A request's body as the frame that asks for the call (checks 8 to 10 of the wire contract, 2.2), and a
 * tool's text as the answer's body. Pure. */
#pragma once

#include "broker/policy.h"
#include "wire/frame.h"

/* Returns 0 with *ret_type and *ret_payload set, or the status that refuses the body: 400, 403 or 502.
 * kept_members: wire/model-request.h. */
guint sbx_routes_read_body (const SbxPolicyTarget *target, const char *const *kept_members, GBytes *body,
                            SbxFrameType *ret_type, GByteArray **ret_payload);

/* {"text": text}, or NULL where that is more than SBX_MAX_ANSWER_BYTES. */
GBytes *sbx_routes_wrap_text (GBytes *text);
