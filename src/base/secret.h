/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A key in memory: shared by reference, zeroed when the last holder lets go, poisoned for all of them at
 * once. */
#pragma once

#include <glib.h>

typedef struct _SbxSecret SbxSecret;

/* Copies n_bytes of value; the caller zeroes its own. */
SbxSecret *sbx_secret_new (const char *value, gsize n_bytes);
SbxSecret *sbx_secret_ref (SbxSecret *self);
/* NULL is fine. */
void sbx_secret_unref (SbxSecret *self);
/* The bytes, NUL-terminated, or NULL after poisoning. Borrowed. ret_n_bytes may be NULL. */
const char *sbx_secret_peek (SbxSecret *self, gsize *ret_n_bytes);
/* Zeroes the value for every holder. Safe to repeat. */
void sbx_secret_poison (SbxSecret *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSecret, sbx_secret_unref)
