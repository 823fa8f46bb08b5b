/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/permit.h"

static const struct {
  SbxPeerState state;
  SbxFrameType type;
  SbxPeerState next;
} permits[] = {
  { SBX_PEER_NEW, SBX_FRAME_ANNOUNCE, SBX_PEER_GRANT },
  { SBX_PEER_NEW, SBX_FRAME_SERVICE, SBX_PEER_SERVICE },
  { SBX_PEER_GRANT, SBX_FRAME_MODEL_CALL, SBX_PEER_GRANT },
  { SBX_PEER_GRANT, SBX_FRAME_MCP_CALL, SBX_PEER_GRANT },
  { SBX_PEER_GRANT, SBX_FRAME_CALL_CANCEL, SBX_PEER_GRANT },
  { SBX_PEER_SERVICE, SBX_FRAME_CHARGE, SBX_PEER_SERVICE },
  { SBX_PEER_SERVICE, SBX_FRAME_SCAN, SBX_PEER_SERVICE },
  { SBX_PEER_SERVICE, SBX_FRAME_RELOAD, SBX_PEER_SERVICE },
};

gboolean
sbx_permit (SbxPeerState *state, SbxFrameType type)
{
  for (gsize i = 0; i < G_N_ELEMENTS (permits); i++)
    if (permits[i].state == *state && permits[i].type == type)
      {
        *state = permits[i].next;
        return TRUE;
      }
  return FALSE;
}
