/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The whole configuration, with the rules that bind its parts: what the worker will list to the model (its
 * own four tools, host_<name>, mcp_<i>_<name>; wire contract 3.3) has at most 128 names of at most 64 bytes,
 * each once, and takes at most 32,768 JSON bytes. What is over is found here, not at every turn.
 */
#pragma once

#include <glib.h>

#include "config/config.h"
#include "config/mcp-d.h"
#include "config/tools-d.h"

/* The worker's own tools (invalid_tool, memory_set, memory_get, memory_remove): their share of the number and
 * of the bytes. The worker's own list must stay within it; its test says so. */
#define SBX_WORKER_TOOLS        4u
#define SBX_WORKER_TOOLS_BYTES  4096u
#define SBX_MAX_TOOL_LIST_BYTES 32768u

typedef struct {
  SbxConfig *config;
  GPtrArray *tools;   /* of SbxTool */
  GPtrArray *servers; /* of SbxMcpServer */
} SbxSettings;

SbxSettings *sbx_settings_load (const char *root, GPtrArray *warnings, GError **error);
void sbx_settings_free (SbxSettings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSettings, sbx_settings_free)
