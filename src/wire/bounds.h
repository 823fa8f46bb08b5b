/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Bounds that two programs have to agree on (the wire contract's numbers). */
#pragma once

#define SBX_MAX_CHANNEL_BYTES 512u /* a channel key, UTF-8 */
#define SBX_MAX_SPEAKER_UNITS 256u /* speaker id and name, UTF-16 code units */
#define SBX_MAX_SPEAKER_BYTES (3u * SBX_MAX_SPEAKER_UNITS)
#define SBX_MAX_TEXT_UNITS    32000u  /* a guest's message */
#define SBX_MAX_TURN_BYTES    262144u /* the turn as JSON */
#define SBX_MAX_REPLY_UNITS   100000u
#define SBX_MAX_REPLY_BYTES   (3u * SBX_MAX_REPLY_UNITS)
#define SBX_MAX_STDOUT_BYTES  (2u * 1024u * 1024u)
#define SBX_MAX_STDERR_BYTES  (128u * 1024u)
#define SBX_MAX_BODY_BYTES    262144u /* a request to the broker */
/* A call's parts as they go to the egress or to a host tool: all out of one body, but written again, and the
 * writer's escapes and numbers can be longer than what was read. */
#define SBX_MAX_CALL_BYTES          (2u * SBX_MAX_BODY_BYTES)
#define SBX_MAX_ANSWER_BYTES        1048576u /* an upstream answer after decoding; {"text": …} of a host tool */
#define SBX_MAX_TOOLS               128u     /* host tools; tools of one request; tools of an MCP server */
#define SBX_MAX_SERVERS             64u
#define SBX_MAX_NAME_BYTES          48u /* host tools, MCP servers */
#define SBX_MAX_FUNCTION_NAME_BYTES 64u
#define SBX_MAX_KEPT_MEMBERS        16u /* members of assistant messages that the operator lets through */
#define SBX_MAX_TURN_ID_BYTES       32u
#define SBX_DEFAULT_CALL_BUDGET     48u
