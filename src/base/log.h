/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Journal entries of the daemons: a sentence for people, fields for programs, a message id with a catalog
 * text.
 *
 * Where standard error is the journal (systemd.exec(5), $JOURNAL_STREAM), an entry goes to the journal by its
 * own protocol, else one line goes to standard error. Neither blocks on a reader that is slow for long, and
 * neither ever fails the caller. No message text, tool payload or key may be given to any function here.
 *
 *   sbx_log_event (SBX_LOG_ID_TURN_STARTED, LOG_INFO, &(SbxLogFields){ .turn = id, .channel = key },
 *                  "Turn %s started", id);
 */
#pragma once

#include <glib.h>
#include <syslog.h>

#include "base/log-ids.h"

/* What an entry is about. NULL members are left out. */
typedef struct {
  const char *turn;      /* SANDBOX_TURN= */
  const char *channel;   /* SANDBOX_CHANNEL= */
  const char *speaker;   /* SANDBOX_SPEAKER= */
  const char *principal; /* SANDBOX_PRINCIPAL= */
  const char *outcome;   /* SANDBOX_OUTCOME= */
  const char *reason;    /* SANDBOX_REASON=, a name of wire/failure.h or another fixed word */
  const char *container; /* SANDBOX_CONTAINER= */
  /* Others as NAME, value, NAME, value, …, NULL: "SANDBOX_CALLS", "12", … */
  const char *const *more;
} SbxLogFields;

/* Call once, before the first entry: name (static) becomes SYSLOG_IDENTIFIER= and the start of each plain
 * line. GLib's own messages go the same way. The first entry opens the journal's socket, so it has to come
 * before a lockdown. */
void sbx_log_init (const char *name);

/* An entry with a message id of log-ids.h. priority: LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG.
 * fields may be NULL. */
void sbx_log_event (const char *message_id, int priority, const SbxLogFields *fields, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

/* One without an id. LOG_DEBUG is left out unless $DEBUG_INVOCATION is 1 (systemd.service(5),
 * RestartMode=debug). */
void sbx_log (int priority, const SbxLogFields *fields, const char *format, ...) G_GNUC_PRINTF (3, 4);
