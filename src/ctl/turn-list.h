/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The turns that run or wait, as the verbs turns, status and channels show them. */
#pragma once

#include "ctl/ctl.h"

typedef struct {
  char *id;
  char *channel;
  char *state;
  guint32 uid;
  gint64 accepted_usec; /* since the epoch */
  gint64 since_usec;    /* that it is in this state */
  char *waits_for;
} SbxListedTurn;

/* In order of acceptance, an array of SbxListedTurn; NULL, said on standard error and *ret_exit set, where
 * they cannot be had. */
GPtrArray *sbx_turn_list_get (SbxCtl *ctl, SbxExit *ret_exit);

/* For a person, with ages as of now. */
SbxTable *sbx_turn_list_table (GPtrArray *turns);

/* For a program: an array of objects. */
JsonNode *sbx_turn_list_json (GPtrArray *turns);
