/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The body of a model call, built around two texts that were checked here: whatever a broker says, model,
 * streaming and output tokens are the operator's. Pure.
 */
#pragma once

#include <glib.h>

#include "config/config.h"

/* {"model","messages","tools"?,"stream":false,<OutputTokenField>:n, and the members of ExtraBody}. messages
 * and tools are the broker's; tools may be NULL. NULL where a rule of the model route is broken. */
GBytes *sbx_request_build (const SbxConfig *config, GBytes *messages, GBytes *tools);
