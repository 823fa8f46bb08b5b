/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Writes a ustar archive into memory. Pure. Every entry belongs to root and has time 0, so that equal content
 * gives equal bytes. Paths have no leading slash. */
#pragma once

#include <glib.h>

typedef struct _SbxTar SbxTar;

SbxTar *sbx_tar_new (void);
void sbx_tar_free (SbxTar *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTar, sbx_tar_free)

/* FALSE for a path that does not fit a header (100 bytes behind a prefix of 155), with nothing written. */
gboolean sbx_tar_add_directory (SbxTar *self, const char *path, guint mode);
gboolean sbx_tar_add_file (SbxTar *self, const char *path, guint mode, gconstpointer data, gsize n_bytes);
/* A hard link to a path that is in the archive already. target has at most 100 bytes. */
gboolean sbx_tar_add_link (SbxTar *self, const char *path, guint mode, const char *target);

/* Closes the archive and gives its bytes; only sbx_tar_free() may follow. */
GBytes *sbx_tar_end (SbxTar *self);
