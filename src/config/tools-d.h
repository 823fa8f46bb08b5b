/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Host tools: one JSON object a file in tools.d, from the same three directories as sandboxd.conf.
 *
 *   { "name", "description", "parameters": schema,
 *     "socket": path | "bus": { "name", "path", "interface", "method" },
 *     "kind": "tool" | "compactor", "deadline_sec": 1-600, "calls": 1-1000 }
 *
 * Defaults: the socket /run/sandbox-tools/NAME.sock, kind tool, 60 seconds, no cap on the calls of a turn.
 * Everything is checked when it is read; an unknown member is a warning.
 */
#pragma once

#include <glib.h>

#include "config/config.h"

/* What the model is told of a tool, host or MCP. */
typedef struct {
  char *name;
  char *description;
  char *parameters;  /* a local JSON schema, an object, as compact JSON */
  char *remote_name; /* of an MCP server's tool, where it differs; else NULL */
} SbxToolSpec;

typedef enum {
  SBX_TOOL_KIND_TOOL,
  SBX_TOOL_KIND_COMPACTOR, /* called by the worker to shorten history; never offered to the model */
} SbxToolKind;

typedef struct {
  SbxToolSpec spec;
  SbxToolKind kind;
  char *socket;   /* NULL for a bus provider */
  char *bus_name; /* these four together, or NULL */
  char *bus_path;
  char *bus_interface;
  char *bus_method;
  guint deadline_sec;
  guint max_calls; /* a turn; 0: no cap but the turn's budget */
} SbxTool;

void sbx_tool_free (SbxTool *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTool, sbx_tool_free)

/* All tools, in order of their file names; the array frees them. NULL with error set (SBX_CONFIG_ERROR). */
GPtrArray *sbx_tools_load (const char *root, GPtrArray *warnings, GError **error);
