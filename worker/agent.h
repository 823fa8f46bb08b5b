/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One turn from its input to its reply: the tool loop (wire contract 3). Blocking. */
#pragma once

#include <glib.h>

#include "reply.h"

#define SBX_AGENT_MAX_MODEL_CALLS 12u

typedef struct {
  const char *socket_path; /* the broker's */
  const char *workspace;
} SbxAgentPlaces;

/* Never NULL. When it returns, what the reply says has been saved is on disk. Reasons for a failure go to
 * standard error, without any text of guest or model. */
SbxReply *sbx_agent_run (const SbxAgentPlaces *places, const char *turn, gsize n_bytes);
