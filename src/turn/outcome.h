/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What came of a turn: exactly one of these, recorded and told once. */
#pragma once

#include <glib.h>

#include "wire/failure.h"

typedef enum {
  SBX_OUTCOME_NONE, /* not yet */
  SBX_OUTCOME_REPLIED,
  SBX_OUTCOME_FAILED,
  SBX_OUTCOME_CANCELLED,
  SBX_OUTCOME_DEADLINE,
  SBX_OUTCOME_REFUSED, /* taken into the queue, but not allowed any more when its time came */
  _SBX_OUTCOME_LAST = SBX_OUTCOME_REFUSED,
} SbxOutcomeKind;

typedef struct {
  SbxOutcomeKind kind;
  SbxFailure failure; /* why, unless it replied */
  gboolean ok;        /* of a reply */
  char *text;         /* of a reply; never logged */
} SbxOutcome;

void sbx_outcome_clear (SbxOutcome *self);

/* The outcome that a failure makes: _CANCELLED and _DEADLINE are kinds of their own, _MODE_OFF and _DISK_LOW
 * are refusals. */
SbxOutcomeKind sbx_outcome_kind_of (SbxFailure failure);

/* "replied", … for the journal and the bus. Static. */
const char *sbx_outcome_name (SbxOutcomeKind kind);
