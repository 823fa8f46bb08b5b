/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What is remembered for a channel and its speakers (wire contract 3.7): memory.json in the workspace. */
#pragma once

#include <glib.h>

#include "store.h"

#define SBX_MEMORY_FILE           "memory.json"
#define SBX_MEMORY_MAX_ENTRIES    256u
#define SBX_MEMORY_MAX_BYTES      524288u
#define SBX_MEMORY_MAX_KEY_UNITS  128u
#define SBX_MEMORY_MAX_TEXT_UNITS 2048u

#define SBX_MEMORY_ERROR (sbx_memory_error_quark ())
GQuark sbx_memory_error_quark (void);
typedef enum {
  SBX_MEMORY_ERROR_MALFORMED, /* the file is not such a list: may be set aside */
  SBX_MEMORY_ERROR_RULE,      /* a call breaks a rule, or would leave too much */
} SbxMemoryError;

typedef struct _SbxMemory SbxMemory;

/* Reads the file. store must outlive the memory; speaker_id is the turn's, whatever a call says. Errors of
 * SBX_STORE_ERROR and SBX_MEMORY_ERROR. */
SbxMemory *sbx_memory_load (SbxStore *store, const char *speaker_id, GError **error);
/* An empty one, for a file that was set aside. */
SbxMemory *sbx_memory_new (SbxStore *store, const char *speaker_id);
void sbx_memory_free (SbxMemory *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxMemory, sbx_memory_free)

/* The file's rules by themselves: NULL with error set. For load() and the fuzzer. */
GPtrArray *sbx_memory_parse (const char *data, gsize n_bytes, GError **error);

/* [{"key","text"},…] of the speaker's or the channel's entries. */
char *sbx_memory_list (SbxMemory *self, gboolean of_speaker);

/* The three tools: the result for the model, or NULL with error set and nothing changed. set and remove write
 * the file at once. */
char *sbx_memory_get (SbxMemory *self, GVariant *arguments, GError **error);
char *sbx_memory_set (SbxMemory *self, GVariant *arguments, GError **error);
char *sbx_memory_remove (SbxMemory *self, GVariant *arguments, GError **error);
