/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One connection of a guest: one request, one answer, then the end. What it may cost is bounded in bytes and
 * time, whatever the peer does; every step is a source of the main loop.
 */
#pragma once

#include "broker/audit.h"
#include "broker/calls.h"
#include "broker/policy.h"

#define SBX_CONNECTION_HEAD_MSEC    10000u /* from the start, for the whole head */
#define SBX_CONNECTION_REQUEST_MSEC 60000u /* from the start, for the body too */
#define SBX_CONNECTION_ANSWER_MSEC  10000u /* for the peer to take the answer */
#define SBX_CONNECTION_LINGER_MSEC  2000u  /* for the peer to end, once it has the answer */
#define SBX_CONNECTION_LINGER_BYTES (2u * 1024u * 1024u)

typedef struct _SbxConnection SbxConnection;

/* The connection is over; free it. The last thing that it does. */
typedef void (*SbxConnectionOver) (SbxConnection *connection, gpointer user_data);

/* Takes fd, non-blocking. policy, calls and audit must outlive it. */
SbxConnection *sbx_connection_new (int fd, const SbxPolicy *policy, SbxCalls *calls, SbxAudit *audit,
                                   SbxConnectionOver over, gpointer user_data);

/* Drops its call, if it has one, and closes. NULL is fine. */
void sbx_connection_free (SbxConnection *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxConnection, sbx_connection_free)
