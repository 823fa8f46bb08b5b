/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* At most so many turns of one speaker in a window that slides: SpeakerTurns=. Pure but for memory; times are
 * the caller's, in microseconds, and never go back.
 *
 * A speaker is an id on a platform (what stands before a channel's colon), so changing the channel does not
 * help.
 */
#pragma once

#include <glib.h>

/* Speakers that are remembered; beyond it the one that was heard of last the longest ago is forgotten. */
#define SBX_SPEAKER_RATE_MAX 10000u

typedef struct _SbxSpeakerRate SbxSpeakerRate;

/* turns 0: no limit. */
SbxSpeakerRate *sbx_speaker_rate_new (guint turns, gint64 window_usec);
void sbx_speaker_rate_free (SbxSpeakerRate *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSpeakerRate, sbx_speaker_rate_free)

void sbx_speaker_rate_set (SbxSpeakerRate *self, guint turns, gint64 window_usec);

/* How long the speaker has to wait for the next turn; 0: none. Counts nothing. */
gint64
sbx_speaker_rate_wait_usec (SbxSpeakerRate *self, const char *channel, const char *speaker, gint64 now_usec);
/* A turn of theirs was taken. */
void sbx_speaker_rate_count (SbxSpeakerRate *self, const char *channel, const char *speaker, gint64 now_usec);
