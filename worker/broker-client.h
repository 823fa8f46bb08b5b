/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Requests to the turn's broker (wire contract 3.1): one connection each, no second try. Blocking, with a
 * deadline. */
#pragma once

#include <glib.h>

#define SBX_BROKER_DEADLINE_MSEC 65000u

#define SBX_BROKER_ERROR (sbx_broker_error_quark ())
GQuark sbx_broker_error_quark (void);
typedef enum {
  SBX_BROKER_ERROR_CONNECTION, /* no broker, or it went away */
  SBX_BROKER_ERROR_DEADLINE,
  SBX_BROKER_ERROR_ANSWER, /* not HTTP, or too large */
  SBX_BROKER_ERROR_STATUS, /* any status but 200 */
} SbxBrokerError;

/* The body of a 200 answer, or NULL with error set. *ret_status (may be NULL) is the status, 0 where there
 * was none. */
GByteArray *sbx_broker_post (const char *socket_path, const char *path, const char *body, gsize n_bytes,
                             guint deadline_msec, guint *ret_status, GError **error);
