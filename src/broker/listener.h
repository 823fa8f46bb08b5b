/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The turn's listening socket and its connections, SBX_LISTENER_MAX_CONNECTIONS at most: one more is closed
 * unanswered. */
#pragma once

#include "broker/connection.h"

#define SBX_LISTENER_MAX_CONNECTIONS 16u

typedef struct _SbxListener SbxListener;

/* Takes fd, a listening stream socket, and accepts from now on. policy, calls and audit must outlive it. */
SbxListener *sbx_listener_new (int fd, const SbxPolicy *policy, SbxCalls *calls, SbxAudit *audit);

/* Drops every connection. NULL is fine. */
void sbx_listener_free (SbxListener *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxListener, sbx_listener_free)
