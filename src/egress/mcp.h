/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One tools/call at one MCP server, with what Streamable HTTP needs around it where the server has "session":
 * true: initialize and notifications/initialized once, the session id kept, made anew once when the server
 * has forgotten it, and a response that may come as an event of a stream, behind notifications. The guest
 * sees none of it: its answer has id 1, as its request would have had without a session.
 */
#pragma once

#include <glib.h>

#include "egress/call.h"
#include "egress/endpoints.h"

typedef struct _SbxMcpCall SbxMcpCall;

/* result->body is the JSON-RPC response as text. Called once, from the loop; the call is gone afterwards. */
typedef SbxCallDone SbxMcpDone;

/* target must live until the call has ended. arguments: a checked JSON object. */
SbxMcpCall *sbx_mcp_call_start (SbxUpstream *upstream, SbxTarget *target, SbxSecret *key, const char *tool,
                                GBytes *arguments, guint timeout_msec, SbxMcpDone done, gpointer user_data);

/* Ends it at once; done is not called. */
void sbx_mcp_call_cancel (SbxMcpCall *self);
