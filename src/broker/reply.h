/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Reads what a worker printed as its reply: {"ok": boolean, "text": text of at most SBX_MAX_REPLY_UNITS}.
 * Pure.
 *
 * Other members are ignored, but for `compaction`: {"by", "reason"?, "tokens_before"?} in the words of
 * wire/reply.h; one that is not so is ignored too, since it only informs the journal.
 */
#pragma once

#include <glib.h>

#include "wire/control.h"

/* SBX_FAILURE_NONE with *ret_reply set (sbx_control_reply_clear()), or _REPLY_INVALID, _REPLY_TOO_LARGE. */
SbxFailure sbx_reply_read (const char *data, gsize n_bytes, SbxControlReply *ret_reply);
