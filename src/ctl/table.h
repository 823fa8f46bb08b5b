/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A table for a person, or the same rows as JSON for a program. Pure but for printing.
 *
 * Cells are UTF-8 texts; columns are aligned by their width in characters of one cell each. Control
 * characters become
 * "?", so that a channel's name cannot move the cursor.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

typedef enum {
  SBX_JSON_OFF,
  SBX_JSON_SHORT,
  SBX_JSON_PRETTY,
} SbxJsonMode;

typedef struct _SbxTable SbxTable;

/* headings: NULL-terminated, and copied; in JSON they are the members' names in lower case. */
SbxTable *sbx_table_new (const char *const *headings);
void sbx_table_free (SbxTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTable, sbx_table_free)

/* cells: as many as there are headings, and a NULL; copied. */
void sbx_table_add (SbxTable *self, const char *const *cells);
guint sbx_table_length (const SbxTable *self);

/* The caller frees the text; each line ends in a newline. legend: with the line of headings. */
char *sbx_table_text (const SbxTable *self, gboolean legend);

/* One array of objects, with a final newline. */
char *sbx_table_json (const SbxTable *self, SbxJsonMode mode);

/* node's text with a final newline; the caller frees it. */
char *sbx_json_text (JsonNode *node, SbxJsonMode mode);
