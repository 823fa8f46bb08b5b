/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a caller asks for: one message of one speaker in one channel. */
#pragma once

#include <glib.h>

#define SBX_MAX_MESSAGE_ID_BYTES 256u
#define SBX_MIN_DEADLINE_MSEC    1000u
#define SBX_MAX_DEADLINE_MSEC    600000u

typedef struct {
  const char *channel; /* a valid key */
  const char *speaker_id;
  const char *speaker_name;
  const char *principal; /* NULL: none */
  const char *text;
  const char *message_id; /* NULL: none; else 1 to SBX_MAX_MESSAGE_ID_BYTES */
  guint32 uid;            /* who asked for it */
  guint32 deadline_msec;  /* 0: the configured one */
  gboolean detached;      /* goes on without its caller, over a restart of the daemon too, while it waits */
} SbxTurnRequest;

/* Copies src with its texts. */
void sbx_turn_request_init (SbxTurnRequest *self, const SbxTurnRequest *src);
/* Frees the texts of one that was copied. */
void sbx_turn_request_clear (SbxTurnRequest *self);
