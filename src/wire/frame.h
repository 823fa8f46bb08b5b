/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The frame in which our own processes talk to each other: a fixed head of 16 bytes, then the payload.
 *
 *   bytes 0-3   magic "SBX1"
 *   bytes 4-5   type   (SbxFrameType)
 *   bytes 6-7   zero
 *   bytes 8-11  id     chosen by the asking side, repeated in the answer; 0 where nothing is asked
 *   bytes 12-15 length of the payload
 *
 * Integers are big-endian. Each receiver has a table of the types that it accepts now, with the largest
 * payload and the exact number of descriptors of each; anything else ends the connection. This file is pure:
 * no I/O.
 */
#pragma once

#include <glib.h>

#define SBX_FRAME_HEAD_BYTES 16
#define SBX_FRAME_MAX_FDS    2

typedef enum {
  /* sandboxd to broker (wire/control.h) */
  SBX_FRAME_CONFIG = 0x0101,
  SBX_FRAME_START = 0x0102,
  SBX_FRAME_TOOL_RESULT = 0x0103,
  /* broker to sandboxd */
  SBX_FRAME_READY = 0x0201,
  SBX_FRAME_TOOL_CALL = 0x0202,
  SBX_FRAME_TOOL_CANCEL = 0x0203,
  SBX_FRAME_REPLY = 0x0204,
  SBX_FRAME_NO_REPLY = 0x0205,
  SBX_FRAME_AUDIT = 0x0206,
  /* sandboxd to egress (wire/grant.h) */
  SBX_FRAME_ANNOUNCE = 0x0301,
  SBX_FRAME_SERVICE = 0x0302,
  SBX_FRAME_CHARGE = 0x0303,
  SBX_FRAME_SCAN = 0x0304,
  SBX_FRAME_RELOAD = 0x0305,
  /* broker to egress */
  SBX_FRAME_MODEL_CALL = 0x0311,
  SBX_FRAME_MCP_CALL = 0x0312,
  SBX_FRAME_CALL_CANCEL = 0x0313,
  /* egress to either */
  SBX_FRAME_GRANTED = 0x0401,
  SBX_FRAME_CHARGED = 0x0402,
  SBX_FRAME_SCANNED = 0x0403,
  SBX_FRAME_RELOADED = 0x0404,
  SBX_FRAME_ANSWER = 0x0411,
} SbxFrameType;

/* One line of a receiver's table. */
typedef struct {
  SbxFrameType type;
  guint32 max_bytes;
  guint n_fds;
} SbxFrameRule;

typedef struct {
  SbxFrameType type;
  guint32 id;
  guint32 n_bytes;
} SbxFrameHead;

/* Writes head as SBX_FRAME_HEAD_BYTES bytes. */
void sbx_frame_head_write (const SbxFrameHead *head, guint8 *ret_bytes);

/* Reads SBX_FRAME_HEAD_BYTES bytes and holds them against rules. Returns the rule that applies, or NULL with
 * error set (G_IO_ERROR_INVALID_DATA): wrong magic, reserved bytes in use, a type that is not in the table,
 * too long.
 */
const SbxFrameRule *sbx_frame_head_read (const guint8 *bytes, const SbxFrameRule *rules, gsize n_rules,
                                         SbxFrameHead *ret_head, GError **error);
