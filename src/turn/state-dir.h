/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A directory of sandboxd's state: small files that only the service may read or write.
 *
 * The directory must belong to the service and be closed to everybody else, and so must each file, which is a
 * regular one and never a link. A file is written beside its name and renamed over it, so that it is always
 * the old one or the new one as a whole. It may be used from more than one thread.
 *
 * All calls block: those that only reach what the kernel holds (SBX_STATE_SEEN) for the time of a system
 * call, which is what a main loop may take; those that wait for the disk belong to the start and to
 * state-writer.h.
 */
#pragma once

#include <glib.h>

#define SBX_STATE_DIR_ERROR (sbx_state_dir_error_quark ())
GQuark sbx_state_dir_error_quark (void);
typedef enum {
  SBX_STATE_DIR_ERROR_UNSAFE, /* owner, mode or kind of the directory or of a file */
  SBX_STATE_DIR_ERROR_IO,
  SBX_STATE_DIR_ERROR_TOO_LARGE, /* more than the caller reads */
} SbxStateDirError;

typedef struct _SbxStateDir SbxStateDir;

/* Opens path, made with mode 0700 where it is missing, and checks it. NULL with error set; the text says what
 * to change. */
SbxStateDir *sbx_state_dir_open (const char *path, GError **error);
void sbx_state_dir_free (SbxStateDir *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxStateDir, sbx_state_dir_free)

/* The whole file, NUL-terminated, with its length; TRUE with *ret_text NULL where there is none. */
gboolean sbx_state_dir_read (SbxStateDir *self, const char *name, gsize max_bytes, char **ret_text,
                             gsize *ret_n_bytes, GError **error);

/* How far a change must have come before the call is back. */
typedef enum {
  SBX_STATE_SEEN,    /* it outlives this process */
  SBX_STATE_ON_DISK, /* it outlives a power cut */
} SbxStateDepth;

/* FALSE with error set and the old file as it was. */
gboolean sbx_state_dir_write (SbxStateDir *self, const char *name, const char *text, gsize n_bytes,
                              SbxStateDepth depth, GError **error);

gboolean sbx_state_dir_rename (SbxStateDir *self, const char *from, const char *to, GError **error);
/* A file that is not there is no failure. */
void sbx_state_dir_remove (SbxStateDir *self, const char *name);

/* Brings the files of these names and the directory's entries to the disk. One that is not there any more is
 * none. All are tried; FALSE with error set to the first that failed. */
gboolean sbx_state_dir_sync (SbxStateDir *self, GPtrArray *names, GError **error);

/* The names in it, without a half-written file's; an array of texts. */
GPtrArray *sbx_state_dir_list (SbxStateDir *self);
