/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Which channels are sandboxed, kept in channels.json (wire contract 6.1).
 *
 * The file is a JSON list of channel keys in a state directory (state-dir.h). Every change is on the disk
 * before anybody is told of it; where that fails, it is taken back. Errors: SBX_STATE_DIR_ERROR, and those
 * below.
 */
#pragma once

#include "turn/state-writer.h"

#define SBX_CHANNEL_STORE_ERROR (sbx_channel_store_error_quark ())
GQuark sbx_channel_store_error_quark (void);
typedef enum {
  SBX_CHANNEL_STORE_ERROR_MALFORMED, /* not a list of channel keys */
  SBX_CHANNEL_STORE_ERROR_FULL,      /* more channels than SBX_CHANNEL_STORE_MAX */
} SbxChannelStoreError;

#define SBX_CHANNEL_STORE_MAX 10000u

typedef struct _SbxChannelStore SbxChannelStore;

/* `^[a-z][a-z0-9_-]*:.+$` without a line end, 1 to 512 bytes of UTF-8. */
gboolean sbx_channel_key_is_valid (const char *key);

/* The 64 hex digits of a key's SHA-256: the channel's name on disk and on containers. Free with g_free(). */
char *sbx_channel_hash (const char *key);

/* Opens the store at path; its directory is made with mode 0700 where it is missing. initial: keys that are
 * taken where there is no file yet (then written), NULL for none. NULL with error set; the text says what to
 * change. Blocking. */
SbxChannelStore *sbx_channel_store_open (const char *path, const char *const *initial, GError **error);
/* Blocks until all is on the disk. NULL is fine. */
void sbx_channel_store_free (SbxChannelStore *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxChannelStore, sbx_channel_store_free)

gboolean sbx_channel_store_has (SbxChannelStore *self, const char *key);
guint sbx_channel_store_count (SbxChannelStore *self);
/* The keys, sorted; the array is the caller's, the texts are the store's. */
GPtrArray *sbx_channel_store_list (SbxChannelStore *self);

/* Puts the channel on the list or takes it off. done is called from the loop when that is on the disk, or
 * with why it is as before; until then no other change of this channel may be asked for. */
void sbx_channel_store_set (SbxChannelStore *self, const char *key, gboolean on, SbxStateDone done,
                            gpointer user_data);
