/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Deletes a channel's workspace. What a guest's worker made there only the worker's user can remove, so a
 * container does it: our own worker image with --wipe, no network, nothing mounted but the workspace.
 *
 * The workspace is renamed first: from then on the channel has none, its next turn makes a new one, and
 * whatever happens the old one is found again by its name (<channel's hash>.purge-<8 hex digits>) and wiped
 * later. One at a time.
 */
#pragma once

#include "turn/turn.h"

#define SBX_WIPER_ERROR (sbx_wiper_error_quark ())
GQuark sbx_wiper_error_quark (void);
typedef enum {
  SBX_WIPER_ERROR_LATER, /* it is set aside; Docker or the image is missing, so it is wiped later */
  SBX_WIPER_ERROR_IO,    /* it could not even be set aside; nothing has changed */
} SbxWiperError;

typedef struct _SbxWiper SbxWiper;

/* context must outlive it. */
SbxWiper *sbx_wiper_new (SbxTurnContext *context);
/* Ends what is under way: its callers get SBX_WIPER_ERROR_LATER from the main loop. NULL is fine. */
void sbx_wiper_free (SbxWiper *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWiper, sbx_wiper_free)

/* A channel without a workspace is a success. No turn of the channel should be running. */
void sbx_wiper_purge_async (SbxWiper *self, const char *channel_hash, GAsyncReadyCallback callback,
                            gpointer user_data);
gboolean sbx_wiper_purge_finish (GAsyncResult *result, GError **error);

/* Wipes what was set aside and is still there, by this life or an earlier one. */
void sbx_wiper_resume (SbxWiper *self);

/* Whether the container of that id (SBX_LABEL_TURN) is one of a wipe under way. */
gboolean sbx_wiper_is_live (SbxWiper *self, const char *id);
