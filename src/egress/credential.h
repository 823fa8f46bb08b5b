/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A key file, read again whenever it has changed, so that a refreshed login works without a restart.
 *
 * One line end at the end is taken off (what `echo` and editors put there); a key with another control byte,
 * a blank, a byte beyond ASCII, fewer than 8 or more than 8,192 bytes is refused, since no header could carry
 * it, or, short, half of all answers would seem to hold it. The file must be a regular one, not a link:
 * whoever can write beside it must not choose what is sent as a key. (A systemd credential is a plain file
 * below $CREDENTIALS_DIRECTORY.) A file that others can read is warned about once. The bytes are zeroed when
 * they are replaced.
 */
#pragma once

#include <glib.h>

#include "base/secret.h"

#define SBX_KEY_MIN_BYTES 8u
#define SBX_KEY_MAX_BYTES 8192u

#define SBX_CREDENTIAL_ERROR (sbx_credential_error_quark ())
GQuark sbx_credential_error_quark (void);
typedef enum {
  SBX_CREDENTIAL_ERROR_UNREADABLE,
  SBX_CREDENTIAL_ERROR_MALFORMED,
} SbxCredentialError;

typedef struct _SbxCredential SbxCredential;

SbxCredential *sbx_credential_new (const char *path);
void sbx_credential_free (SbxCredential *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxCredential, sbx_credential_free)

const char *sbx_credential_path (const SbxCredential *self);

/* The key as the file has it now; borrowed until the next call. NULL with error set (SBX_CREDENTIAL_ERROR;
 * the text names the file and what to change, never the key). */
SbxSecret *sbx_credential_get (SbxCredential *self, GError **error);

/* The key that was in the file before the last change, or NULL: calls that began with it may still be
 * answered, so it counts as live. Borrowed. */
SbxSecret *sbx_credential_previous (const SbxCredential *self);

/* Goes up whenever the key has changed, so that what was derived from it is made anew. */
guint sbx_credential_generation (const SbxCredential *self);

/* Whether the file's mode lets group members or others read the key. Known after a get. */
gboolean sbx_credential_is_exposed (const SbxCredential *self);

/* Whether bytes may be a key, after the line end. Pure. Returns NULL, or what is wrong as the end of a
 * sentence. */
const char *sbx_credential_fault (const char *bytes, gsize n_bytes);
