/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Which frame a connection may send in which state, and the state after it: a closed table. What is not in it
 * ends the connection. Pure.
 */
#pragma once

#include <glib.h>

#include "wire/frame.h"

typedef enum {
  SBX_PEER_NEW,     /* nothing came yet */
  SBX_PEER_GRANT,   /* a turn's right to call out */
  SBX_PEER_SERVICE, /* sandboxd's own questions */
  SBX_PEER_REFUSED, /* a grant that was not given: nothing may follow */
  _SBX_PEER_LAST = SBX_PEER_REFUSED,
} SbxPeerState;

/* FALSE: not permitted, *state stays. */
gboolean sbx_permit (SbxPeerState *state, SbxFrameType type);
