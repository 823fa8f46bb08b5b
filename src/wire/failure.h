/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Why a turn, or one of its calls, did not work: one closed list that every process shares.
 *
 * The number travels in frames, the name in the journal (SANDBOX_REASON=), in outcomes and, in CamelCase, in
 * D-Bus error names. A guest never sees any of them. Numbers are never reused; new ones go to the end.
 */
#pragma once

#include <glib.h>

typedef enum {
  SBX_FAILURE_NONE = 0,
  SBX_FAILURE_IMAGE_MISSING = 1,
  SBX_FAILURE_DOCKER_DOWN = 2,    /* cannot connect, or no answer in time */
  SBX_FAILURE_DOCKER_REFUSED = 3, /* dockerd answered with an error */
  SBX_FAILURE_SCOPE_REFUSED = 4,  /* systemd or polkit refused the broker's scope */
  SBX_FAILURE_BROKER_FAILED = 5,
  SBX_FAILURE_EGRESS_DOWN = 6,
  SBX_FAILURE_KEY_MISSING = 7,
  SBX_FAILURE_MODEL_REFUSED = 8,     /* a status other than 2xx that is not retried, or after the last try */
  SBX_FAILURE_MODEL_UNREACHABLE = 9, /* name, connection, TLS */
  SBX_FAILURE_MODEL_ANSWER = 10,     /* too large, not JSON, cut short */
  SBX_FAILURE_MODEL_TIMEOUT = 11,
  SBX_FAILURE_RATE_LIMITED = 12,    /* upstream asks to come back later than the deadline */
  SBX_FAILURE_ADDRESS_REFUSED = 13, /* private or loopback address without AllowPrivate=yes */
  SBX_FAILURE_KEY_REFLECTED = 14,   /* a live key was about to go to the guest */
  SBX_FAILURE_BUDGET_SPENT = 15,
  SBX_FAILURE_DEADLINE = 16,
  SBX_FAILURE_CANCELLED = 17,
  SBX_FAILURE_WORKER_FAILED = 18, /* ended without a reply, for no better reason known */
  SBX_FAILURE_WORKER_KILLED = 19,
  SBX_FAILURE_WORKER_OOM = 20,
  SBX_FAILURE_REPLY_INVALID = 21,    /* not one JSON reply, or of the wrong kinds */
  SBX_FAILURE_REPLY_TOO_LARGE = 22,  /* standard output or standard error over its bound */
  SBX_FAILURE_STORE_UNREADABLE = 23, /* memory or history */
  SBX_FAILURE_WORKSPACE_UNSAFE = 24, /* a link, a foreign owner or a wrong mode in the workspace's place */
  SBX_FAILURE_DISK_FULL = 25,
  SBX_FAILURE_RESTARTED = 26, /* sandboxd ended while the turn ran */
  SBX_FAILURE_CLEANUP = 27,
  SBX_FAILURE_TOOL_FAILED = 28,
  SBX_FAILURE_TOOL_BUSY = 29,
  SBX_FAILURE_TOOL_TIMEOUT = 30,
  SBX_FAILURE_RULES = 31, /* the request breaks a rule of its route */
  SBX_FAILURE_INTERNAL = 32,
  SBX_FAILURE_MODE_OFF = 33,    /* the channel went off while the turn waited */
  SBX_FAILURE_DISK_LOW = 34,    /* less than MinFree= is left for workspaces */
  SBX_FAILURE_WORKER_PIDS = 35, /* more processes than PidsMax= */
  _SBX_FAILURE_LAST = SBX_FAILURE_WORKER_PIDS,
} SbxFailure;

/* The stable name, such as "image-missing"; "none" for SBX_FAILURE_NONE and NULL for a number outside the
 * list. */
const char *sbx_failure_name (SbxFailure failure);

/* One sentence for an operator: what happened and what to look at. Never NULL. */
const char *sbx_failure_text (SbxFailure failure);

/* Whether a number read from a frame is in the list. */
gboolean sbx_failure_is_known (guint number);
