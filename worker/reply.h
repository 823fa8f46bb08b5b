/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the worker writes to standard output (wire contract 1.2): one line of JSON. Pure. */
#pragma once

#include <glib.h>

/* Why a turn gave no text. The names are for the host's operator, never for the guest; a host that did not
 * send "repair" does not get them. */
typedef enum {
  SBX_REPLY_FINE,
  SBX_REPLY_INPUT,            /* "turn-invalid": the turn breaks the contract */
  SBX_REPLY_STORE_UNREADABLE, /* "store-unreadable" */
  SBX_REPLY_DISK_FULL,        /* "disk-full" */
  SBX_REPLY_STORE_FAILED,     /* "store-failed" */
  SBX_REPLY_TOO_LARGE,        /* "request-too-large": tools or messages leave no room */
  SBX_REPLY_MODEL_FAILED,     /* "model-failed": the broker refused, or was not there */
  SBX_REPLY_MODEL_ANSWER,     /* "model-answer": not an answer, too long, or too many calls */
  SBX_REPLY_EMPTY,            /* "empty-answer" */
  SBX_REPLY_CALLS_SPENT,      /* "calls-spent": the graceful end, with exit status 0 */
  _SBX_REPLY_LAST = SBX_REPLY_CALLS_SPENT,
} SbxReplyReason;

/* Why an earlier choice was not taken; the words are those of src/wire/reply.h. */
typedef enum {
  SBX_COMPACTION_REASON_NONE,
  SBX_COMPACTION_REASON_NO_COMPACTOR,
  SBX_COMPACTION_REASON_COMPACTOR_FAILED,
  SBX_COMPACTION_REASON_COMPACTOR_TIMEOUT,
  SBX_COMPACTION_REASON_COMPACTOR_INVALID,
  SBX_COMPACTION_REASON_MODEL_FAILED,
  SBX_COMPACTION_REASON_MODEL_INVALID,
  SBX_COMPACTION_REASON_NO_CALLS,
  SBX_COMPACTION_REASON_NO_TIME,
  _SBX_COMPACTION_REASON_LAST = SBX_COMPACTION_REASON_NO_TIME,
} SbxCompactionReason;

typedef struct {
  SbxReplyReason reason;
  char *text;                /* with SBX_REPLY_FINE */
  gboolean extended;         /* the host asked for members besides ok and text */
  GPtrArray *set_aside;      /* names of files set aside; static texts */
  const char *compaction_by; /* "tool", "model" or "dropped"; NULL where nothing was to be summarised */
  SbxCompactionReason compaction;
  guint64 tokens_before; /* with compaction: an estimate of what the history took */
} SbxReply;

SbxReply *sbx_reply_new (void);
void sbx_reply_free (SbxReply *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxReply, sbx_reply_free)

/* "calls-spent" and so on; NULL for SBX_REPLY_FINE. */
const char *sbx_reply_failure_name (SbxReplyReason reason);

/* 0 where the host should take the reply: a text, or the graceful end. */
int sbx_reply_exit_status (const SbxReply *self);

/* The line, with its line end. */
GString *sbx_reply_write (const SbxReply *self);
