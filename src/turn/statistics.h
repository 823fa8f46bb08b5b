/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Sums over turns since the daemon started: over all, and for each of a bounded number of channels. Pure.
 *
 * A channel's sums are forgotten when SBX_STATISTICS_MAX_CHANNELS others have had a turn since its last one;
 * those over all never are.
 */
#pragma once

#include "turn/outcome.h"
#include "turn/usage.h"

#define SBX_STATISTICS_MAX_CHANNELS 1000u

typedef struct {
  guint64 outcomes[_SBX_OUTCOME_LAST + 1];
  guint32 failures[_SBX_FAILURE_LAST + 1]; /* why, of those without a reply */
  SbxTurnUsage sum;
  gint64 longest_usec[SBX_TURN_N_PHASES];
} SbxSums;

typedef struct _SbxStatistics SbxStatistics;

SbxStatistics *sbx_statistics_new (void);
void sbx_statistics_free (SbxStatistics *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxStatistics, sbx_statistics_free)

/* A turn has its outcome. */
void sbx_statistics_add (SbxStatistics *self, const char *channel, const SbxOutcome *outcome,
                         const SbxTurnUsage *usage);
/* It has been removed, which took so long: the one phase behind its outcome. */
void sbx_statistics_add_finishing (SbxStatistics *self, const char *channel, gint64 usec);

/* channel NULL: over all. NULL where nothing is known of the channel. Borrowed until the next change. */
const SbxSums *sbx_statistics_get (SbxStatistics *self, const char *channel);

/* Of the channels that are known, sorted; borrowed texts. */
GPtrArray *sbx_statistics_channels (SbxStatistics *self);

void sbx_statistics_purge (SbxStatistics *self, const char *channel);
