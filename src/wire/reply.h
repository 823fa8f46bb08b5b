/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Words of a worker's reply that travel as numbers (control.h, REPLY): who summarised a history that grew too
 * long, and why an earlier choice was not taken. Closed lists; numbers are never reused, new ones go to the
 * end.
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
