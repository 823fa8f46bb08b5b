/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Whether something that is about to go to a guest holds a live key, in one of six forms (wire contract 2.7):
 * plain; percent-encoded (all but A-Z a-z 0-9 - _ . ! ~ * ' ( ), upper-case hex); base64 with padding;
 * base64url without; hex in lower case; hex in upper case. Pure.
 *
 * All patterns are searched for in one pass over the bytes. The patterns are key material: they are zeroed
 * when the scanner is freed.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "base/secret.h"

typedef struct _SbxReflection SbxReflection;

SbxReflection *sbx_reflection_new (void);
void sbx_reflection_free (SbxReflection *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxReflection, sbx_reflection_free)

/* Adds the six forms of a key of at least two bytes (shorter ones are no keys, see credential.h). */
void sbx_reflection_add (SbxReflection *self, SbxSecret *key);

/* Whether data holds any form of any key. */
gboolean sbx_reflection_finds (const SbxReflection *self, const char *data, gsize n_bytes);

/* The same for every text and every member name of a tree from the JSON gate, at any depth. */
gboolean sbx_reflection_finds_in_node (const SbxReflection *self, JsonNode *node);

/* For a text that a host tool gave: its bytes as they are, and, where it is JSON, what its escapes stand for.
 */
gboolean sbx_reflection_finds_in_text (const SbxReflection *self, const char *data, gsize n_bytes);
