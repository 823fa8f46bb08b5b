/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* "Start fresh": which channels' next turn begins without history (wire contract, 5).
 *
 * Each request adds one to the channel's generation. A turn notes the generation with which it starts; when
 * it has its reply and the generation is still that one, it is forgotten. So a request that comes during a
 * turn stays for the next, and a turn that fails leaves it. A request is on the disk before it is answered.
 */
#pragma once

#include <glib.h>

#include "turn/state-writer.h"

#define SBX_RESETS_MAX 10000u

typedef struct _SbxResets SbxResets;

/* Reads the file name of directory, which must outlive it; a file that cannot be read is an error
 * (SBX_STATE_DIR_ERROR, G_IO_ERROR_INVALID_DATA). */
SbxResets *sbx_resets_open (SbxStateDir *directory, const char *name, GError **error);
/* Blocks until all is on the disk. NULL is fine. */
void sbx_resets_free (SbxResets *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxResets, sbx_resets_free)

/* 0: none is asked for. */
guint64 sbx_resets_generation (SbxResets *self, const char *channel);

/* Counts at once. FALSE with error set and nothing changed (G_IO_ERROR_NO_SPACE beyond SBX_RESETS_MAX
 * channels); else done is called from the loop when it is on the disk, or with why not: then it is taken
 * back, unless another request or a turn has come behind it. */
gboolean
sbx_resets_ask (SbxResets *self, const char *channel, SbxStateDone done, gpointer user_data, GError **error);

/* A turn that began with this generation has its reply. Counts at once; where it cannot be written, a restart
 * would reset once more, and the journal says so. */
void sbx_resets_consume (SbxResets *self, const char *channel, guint64 generation);

/* Forgets what was asked for in the channel. */
void sbx_resets_purge (SbxResets *self, const char *channel);
