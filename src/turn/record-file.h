/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The files of the record store (record-store.h) as JSON. Pure. */
#pragma once

#include "turn/record-store.h"

/* The longest reply or request, each of its bytes escaped at worst, and what stands around it. */
#define SBX_RECORD_FILE_MAX_BYTES (2u * 1024u * 1024u)

/* 1 to SBX_MAX_TURN_ID_BYTES of a-z, 0-9. */
gboolean sbx_record_file_is_turn (const char *text);

/* Free with g_string_free(). */
GString *sbx_record_file_write_queued (const SbxTurnRequest *request, gint64 accepted_usec);
GString *sbx_record_file_write_done (const SbxRecord *record, const char *text);

/* NULL with error set. */
SbxUnfinished *sbx_record_file_read_unfinished (const char *text, gsize n_bytes, const char *turn,
                                                gboolean started, GError **error);
void sbx_unfinished_free (SbxUnfinished *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxUnfinished, sbx_unfinished_free)

/* ret_record (all of whose texts are the caller's) and ret_text may be NULL. FALSE with error set and nothing
 * given. */
gboolean sbx_record_file_read_done (const char *text, gsize n_bytes, const char *turn, SbxRecord *ret_record,
                                    char **ret_text, GError **error);
