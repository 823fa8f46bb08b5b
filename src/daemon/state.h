/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the daemon keeps on the disk, and the directories of its turns: opened at start, blocking. */
#pragma once

#include "base/fd.h"
#include "daemon/daemon.h"
#include "turn/state-dir.h"

typedef struct {
  SbxFd lock; /* -1: not taken */
  SbxChannelStore *channels;
  SbxStateDir *dir;
} SbxDaemonState;

/* Fills context's directories, resets and records too. FALSE with error set; close it in any case. self: its
 * lock is -1, the rest zero. */
gboolean sbx_daemon_state_open (SbxDaemonState *self, SbxTurnContext *context, const SbxDaemonPlaces *places,
                                GError **error);
/* After the context was cleared: what it has of the state goes first. */
void sbx_daemon_state_close (SbxDaemonState *self);
