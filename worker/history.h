/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The channel's last messages (wire contract 3.8): history.json in the workspace. */
#pragma once

#include <glib.h>

#include "store.h"

#define SBX_HISTORY_FILE         "history.json"
#define SBX_HISTORY_MAX_MESSAGES 20u

#define SBX_HISTORY_ERROR (sbx_history_error_quark ())
GQuark sbx_history_error_quark (void);
typedef enum {
  SBX_HISTORY_ERROR_MALFORMED, /* the file is not such a list: may be set aside */
} SbxHistoryError;

typedef struct {
  const char *role; /* "user" or "assistant"; static */
  char *content;
} SbxHistoryMessage;

/* A list of SbxHistoryMessage, oldest first; owned by its reader. */
GPtrArray *sbx_history_new (void);

/* Errors of SBX_STORE_ERROR and SBX_HISTORY_ERROR. A missing file is an empty list. */
GPtrArray *sbx_history_load (SbxStore *store, GError **error);

/* The file's rules by themselves: NULL with error set. For load() and the fuzzer. */
GPtrArray *sbx_history_parse (const char *data, gsize n_bytes, GError **error);

/* role is "user" or "assistant". */
void sbx_history_add (GPtrArray *history, const char *role, const char *content);

/* A finished exchange: the user text is cut as it was in the request. */
void sbx_history_add_exchange (GPtrArray *history, const char *user_text, const char *reply);

/* Writes the newest 20, each cut to 8,192 JSON bytes. */
gboolean sbx_history_save (SbxStore *store, GPtrArray *history, GError **error);
