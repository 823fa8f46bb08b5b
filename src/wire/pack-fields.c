/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/pack-private.h"

void
sbx_pack_gbytes (GByteArray *out, GBytes *bytes)
{
  gsize n_bytes;
  gconstpointer data = g_bytes_get_data (bytes, &n_bytes);

  sbx_pack_bytes (out, data, n_bytes);
}

void
sbx_unpack_payload (SbxUnpack *self, GBytes *payload)
{
  gsize n_bytes;
  gconstpointer data = g_bytes_get_data (payload, &n_bytes);

  sbx_unpack_init (self, data, n_bytes);
}

GBytes *
sbx_unpack_slice (SbxUnpack *self, GBytes *payload, gsize max_bytes)
{
  gsize n_bytes = 0;
  const guint8 *bytes = sbx_unpack_bytes (self, max_bytes, &n_bytes);

  if (bytes == NULL)
    return NULL;
  return g_bytes_new_from_bytes (payload, (gsize) (bytes - self->data), n_bytes);
}

SbxFailure
sbx_unpack_failure (SbxUnpack *self)
{
  guint8 number = sbx_unpack_u8 (self);

  if (!sbx_failure_is_known (number))
    self->failed = TRUE;
  return self->failed ? SBX_FAILURE_INTERNAL : (SbxFailure) number;
}

guint
sbx_unpack_enum (SbxUnpack *self, guint last)
{
  guint8 number = sbx_unpack_u8 (self);

  if (number > last)
    self->failed = TRUE;
  return self->failed ? 0 : number;
}
