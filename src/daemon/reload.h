/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Reading the configuration, at start and again. */
#pragma once

#include "turn/turn.h"

/* Reads the configuration below root and puts it into context in place of what is there, with its tools and
 * its worker's user. FALSE with error set (SBX_CONFIG_ERROR), and context as it was. ret_warnings: set in
 * both cases, g_strfreev(). Blocking for the time of a few small files. Nothing of the old configuration is
 * borrowed for longer than a step of a turn, so turns that run are not disturbed. */
gboolean sbx_reload (SbxTurnContext *context, const char *root, GStrv *ret_warnings, GError **error);
