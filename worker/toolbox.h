/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The tools that a turn offers to the model (wire contract 3.3), and what a call's name stands for. Pure. */
#pragma once

#include <glib.h>

#include "turn-input.h"

typedef enum {
  SBX_TOOL_INVALID, /* the placeholder, which runs nothing */
  SBX_TOOL_MEMORY_SET,
  SBX_TOOL_MEMORY_GET,
  SBX_TOOL_MEMORY_REMOVE,
  SBX_TOOL_HOST, /* POST /tools/<tool> */
  SBX_TOOL_MCP,  /* POST /mcp/<server> */
} SbxToolKind;

typedef struct {
  SbxToolKind kind;
  const char *server; /* borrowed from the turn's input; MCP only */
  const char *tool;   /* likewise; HOST and MCP */
} SbxTool;

typedef struct _SbxToolbox SbxToolbox;

#define SBX_TOOLBOX_MAX_BYTES 32768u
#define SBX_TOOL_PLACEHOLDER  "invalid_tool"

/* NULL where the list takes more than SBX_TOOLBOX_MAX_BYTES. input must outlive the box. */
SbxToolbox *sbx_toolbox_new (const SbxTurnInput *input);
void sbx_toolbox_free (SbxToolbox *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxToolbox, sbx_toolbox_free)

/* The list as compact JSON. Borrowed. */
const char *sbx_toolbox_json (SbxToolbox *self, gsize *ret_n_bytes);

/* What is offered under name, or NULL. Borrowed. */
const SbxTool *sbx_toolbox_find (SbxToolbox *self, const char *name);
