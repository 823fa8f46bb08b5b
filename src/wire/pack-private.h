/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Fields that the messages of this room share, on top of wire/pack.h. */
#pragma once

#include "wire/failure.h"
#include "wire/pack.h"

void sbx_pack_gbytes (GByteArray *out, GBytes *bytes);

/* Starts reading payload, which must outlive self. */
void sbx_unpack_payload (SbxUnpack *self, GBytes *payload);

/* A byte string as bytes that keep payload alive instead of copying it; NULL after a fault. */
GBytes *sbx_unpack_slice (SbxUnpack *self, GBytes *payload, gsize max_bytes);

/* A number of wire/failure.h's list. */
SbxFailure sbx_unpack_failure (SbxUnpack *self);

/* A number from 0 to last; 0 after a fault. */
guint sbx_unpack_enum (SbxUnpack *self, guint last);
