/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A turn's outcome as callers get it: a{sv}, member by member in dbus/org.roundtable.Sandbox1.xml
 * (Turn.Wait). */
#pragma once

#include <systemd/sd-bus.h>

#include "daemon/turn-options.h"
#include "turn/outcome.h"

/* Of options only how the reply is to be shown counts. outcome NULL: none yet, since the daemon is being
 * restarted. */
int sbx_outcome_append (sd_bus_message *message, const char *turn, const SbxOutcome *outcome,
                        const SbxTurnOptions *options);
