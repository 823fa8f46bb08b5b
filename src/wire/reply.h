/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Words of a worker's reply that travel as numbers (control.h, REPLY): who summarised a history that grew too
 * long, why an earlier choice was not taken, why there is no text, and which files were set aside. Closed
 * lists; numbers are never reused, new ones go to the end.
 */
#pragma once

#include <glib.h>

#include "wire/control.h"

/* "none", "tool", "model", "dropped"; NULL outside the list. */
const char *sbx_reply_compaction_name (guint by);
/* FALSE where name is not in the list. */
gboolean sbx_reply_compaction_from_name (const char *name, SbxCompactionBy *ret_by);

/* "none", "no-compactor", "compactor-failed", "compactor-timeout", "compactor-invalid", "model-failed",
 * "model-invalid", "no-calls", "no-time"; NULL outside the list. */
const char *sbx_reply_reason_name (guint reason);
gboolean sbx_reply_reason_from_name (const char *name, guint8 *ret_reason);

/* Why a worker gave no text, from its word for it: "store-unreadable" and so on. NONE where the word is not
 * in the list, or says no more than that the turn failed. */
SbxFailure sbx_reply_failure_from_name (const char *name);
/* Whether a worker has a word for it; NONE, where it says nothing, counts. */
gboolean sbx_reply_failure_is_word (SbxFailure failure);

/* SBX_SET_ASIDE_… of a file's name in the workspace; 0 for another name. */
guint8 sbx_reply_set_aside_from_name (const char *name);
