/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Lines of a reply that open or close a fenced code block (CommonMark 0.31, 4.5). Pure. */
#pragma once

#include <glib.h>

/* A longer run of fence characters is text: it must fit into a part twice. */
#define SBX_MIN_FENCE 3u
#define SBX_MAX_FENCE 16u

typedef struct {
  char character; /* '`' or '~' */
  guint length;
  gboolean bare; /* nothing but blanks behind it: may close */
} SbxFence;

/* Whether a line, which has no end, is a fence. */
gboolean sbx_fence_read (const char *line, gsize bytes, SbxFence *ret_fence);

gboolean sbx_fence_closes (const SbxFence *self, const SbxFence *opening);

/* The end of the line that begins at line: its '\n', or the text's end. */
const char *sbx_fence_line_end (const char *line);

gboolean sbx_fence_is_blank (const char *text, gsize bytes);
