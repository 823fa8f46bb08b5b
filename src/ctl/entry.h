/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One journal entry of ours, as a line for a person or as JSON for a program. Pure. */
#pragma once

#include <glib.h>

typedef struct {
  gint64 usec; /* since the epoch */
  int priority;
  char *message;
  GHashTable *fields; /* "SANDBOX_TURN" to its text, and so on */
} SbxEntry;

SbxEntry *sbx_entry_new (gint64 usec);
void sbx_entry_free (SbxEntry *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxEntry, sbx_entry_free)

/* Takes one field as the journal gives it, NAME=value; those that are not of use here are left out. */
void sbx_entry_take (SbxEntry *self, const char *data, gsize n_bytes);

/* Time, channel, message and outcome; with a final newline. A channel that is asked for is not repeated. The
 * caller frees both texts. color: warnings and errors stand out. */
char *sbx_entry_text (const SbxEntry *self, gboolean with_channel, gboolean color);

/* One object on one line. The members are time_usec, priority, message, and our fields without SANDBOX_, in
 * lower case. */
char *sbx_entry_json (const SbxEntry *self);

/* Whether a word is a turn's id, 16 hexadecimal digits; whether it can be a channel, which has a colon. */
gboolean sbx_entry_word_is_turn (const char *word);
gboolean sbx_entry_word_is_channel (const char *word);
