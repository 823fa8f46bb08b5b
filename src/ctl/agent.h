/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* polkit's agent in the terminal, so that a person can be asked for a password, as systemctl(1) does it. */
#pragma once

#include <glib.h>

typedef struct _SbxAgent SbxAgent;

/* Starts pkttyagent(1) for this process and waits until it is registered; an agent that the session has comes
 * first. NULL where there is no terminal, no program, or no need, since root is asked nothing. */
SbxAgent *sbx_agent_start (void);
/* Ends it. NULL is fine. */
void sbx_agent_free (SbxAgent *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxAgent, sbx_agent_free)
