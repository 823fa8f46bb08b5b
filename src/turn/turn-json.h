/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The turn as the worker reads it on its standard input (wire contract 1.1). Pure. */
#pragma once

#include <glib.h>

#include "config/settings.h"

/* What of it is the guest's. Borrowed texts, valid UTF-8. */
typedef struct {
  const char *text;
  const char *speaker_id;
  const char *speaker_name;
  gboolean reset;
  guint left_msec; /* of the turn's deadline */
} SbxTurnWords;

/* One JSON object in one line. NULL with error set (G_IO_ERROR_MESSAGE_TOO_LARGE) when it would be over
 * SBX_MAX_TURN_BYTES. */
GBytes *sbx_turn_json_write (const SbxSettings *settings, const SbxTurnWords *words, GError **error);
