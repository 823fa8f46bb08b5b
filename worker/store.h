/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The two files in the workspace, read and written so that nothing planted there can matter.
 *
 * A guest may have left anything at any name: links, directories, FIFOs, sockets, devices, huge or sparse
 * files. So a name is opened without following it and without waiting for it, only a regular file of a
 * bounded size is read, and a file is written under a name of its own, made new, flushed, and renamed over
 * the old one. A crash at any step leaves the old file or the new one.
 */
#pragma once

#include <glib.h>

#define SBX_STORE_MAX_BYTES (4u * 1024u * 1024u)
/* Of each name; the oldest go first, since a guest can make a file unreadable in every turn. */
#define SBX_STORE_MAX_ASIDE 8u

#define SBX_STORE_ERROR (sbx_store_error_quark ())
GQuark sbx_store_error_quark (void);
typedef enum {
  SBX_STORE_ERROR_UNREADABLE, /* there, but not a file that can be read: may be set aside */
  SBX_STORE_ERROR_FULL,       /* no room on the disk, or over its quota */
  SBX_STORE_ERROR_IO,
} SbxStoreError;

typedef struct _SbxStore SbxStore;

/* Opens the directory, made with mode 0700 where it is missing. A link at its name is refused. */
SbxStore *sbx_store_open (const char *directory, GError **error);
void sbx_store_free (SbxStore *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxStore, sbx_store_free)

/* TRUE with *ret_data NULL where the file is missing. */
gboolean sbx_store_read (SbxStore *self, const char *name, GBytes **ret_data, GError **error);

/* Mode 0600; on disk, directory entry included, when it returns TRUE. FALSE leaves the old file as it was. */
gboolean sbx_store_write (SbxStore *self, const char *name, const char *data, gsize n_bytes, GError **error);

/* Renames whatever is at name to NAME.corrupt-<UTC time>, never over anything, and removes what was set aside
 * long ago (SBX_STORE_MAX_ASIDE). */
gboolean sbx_store_set_aside (SbxStore *self, const char *name, GError **error);
