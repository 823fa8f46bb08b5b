/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Fields of a frame's payload: big-endian integers, and texts and byte strings behind a 32-bit length.
 *
 * Reading never trusts: every length is held against what is left and against the caller's own bound, texts
 * must be valid UTF-8 without NUL. The first fault sticks, later reads give zeros and NULL, so that a whole
 * message is read straight down and checked once with sbx_unpack_end().
 */
#pragma once

#include <glib.h>

void sbx_pack_u8 (GByteArray *out, guint8 value);
void sbx_pack_u16 (GByteArray *out, guint16 value);
void sbx_pack_u32 (GByteArray *out, guint32 value);
/* text: NULL is written as the empty text. */
void sbx_pack_text (GByteArray *out, const char *text);
void sbx_pack_bytes (GByteArray *out, gconstpointer data, gsize n_bytes);
/* A count and that many texts; a NULL list is an empty one. */
void sbx_pack_texts (GByteArray *out, const char *const *texts);

typedef struct {
  const guint8 *data;
  gsize n_bytes;
  gsize place;
  gboolean failed;
} SbxUnpack;

/* Starts reading data, which must stay as it is while self is used. */
void sbx_unpack_init (SbxUnpack *self, gconstpointer data, gsize n_bytes);

guint8 sbx_unpack_u8 (SbxUnpack *self);
guint16 sbx_unpack_u16 (SbxUnpack *self);
guint32 sbx_unpack_u32 (SbxUnpack *self);
/* 0 or 1; anything else is a fault. */
gboolean sbx_unpack_bool (SbxUnpack *self);
/* A new text of at most max_bytes bytes; NULL after a fault. Free with g_free(). */
char *sbx_unpack_text (SbxUnpack *self, gsize max_bytes);
/* Borrowed from the data; NULL after a fault. An empty string gives a pointer that must not be read. */
const guint8 *sbx_unpack_bytes (SbxUnpack *self, gsize max_bytes, gsize *ret_n_bytes);
/* A NULL-terminated list of at most max_texts texts, free with g_strfreev(); NULL after a fault. */
char **sbx_unpack_texts (SbxUnpack *self, gsize max_texts, gsize max_bytes);

/* TRUE when nothing failed and nothing is left over. Otherwise FALSE with error set
 * (G_IO_ERROR_INVALID_DATA). */
gboolean sbx_unpack_end (SbxUnpack *self, GError **error);
