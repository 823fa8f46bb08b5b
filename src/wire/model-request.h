/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The rules of the model route (wire contract 2.4), pure. The broker applies them to a guest's body, the
 * egress to the two JSON texts that a broker sends it: neither trusts the other.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

typedef enum {
  SBX_MODEL_REQUEST_FINE,
  SBX_MODEL_REQUEST_UNREADABLE, /* not JSON by the gate: status 502 at the broker */
  SBX_MODEL_REQUEST_REFUSED,    /* breaks a rule: status 400 */
} SbxModelVerdict;

/* A guest's whole body. On FINE, *ret_messages is the normalised list as JSON and *ret_tools that of the
 * tools, or NULL where the body has none; together at most SBX_MAX_CALL_BYTES. kept_members (NULL-terminated,
 * may be NULL) are members that the operator lets through as they are, in assistant messages and in their
 * calls (what some providers want back: reasoning_content, extra_content); a name of the contract's own in it
 * has no effect. */
SbxModelVerdict sbx_model_request_read_body (GBytes *body, const char *const *kept_members,
                                             GBytes **ret_messages, GBytes **ret_tools);

/* The same rules over the parts that read_body() gives; normalising twice changes nothing. tools may be NULL.
 */
SbxModelVerdict
sbx_model_request_read_parts (GBytes *messages, GBytes *tools, const char *const *kept_members,
                              GBytes **ret_messages, GBytes **ret_tools);

/* `^[a-z][a-z0-9_]{0,max-1}$`, the whole text: function names (max 64), host tools and MCP servers (max 48).
 */
gboolean sbx_name_is_valid (const char *name, gsize max_bytes);
