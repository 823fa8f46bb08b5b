/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The system message of a turn (wire contract 3.3). */
#pragma once

#include <glib.h>

/* The zone, or NULL for a name that is unknown, empty or not a name of the zone database ("..", absolute, an
 * offset). */
GTimeZone *sbx_prompt_zone (const char *name);

/* now is in the turn's zone; the two lists are JSON texts. Each part is cut to its budget. */
char *
sbx_prompt_new (const char *prompt, GDateTime *now, const char *speaker_memory, const char *channel_memory);

/* {"speaker":…,"message":…}: the user message, before it is cut. */
char *sbx_prompt_user_text (const char *speaker_json, const char *text);
