/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/secret.h"

#include <string.h>

struct _SbxSecret {
  grefcount refs;
  char *value;
  gsize n_bytes;
};

SbxSecret *
sbx_secret_new (const char *value, gsize n_bytes)
{
  SbxSecret *self = g_new0 (SbxSecret, 1);

  g_ref_count_init (&self->refs);
  self->value = g_malloc (n_bytes + 1);
  memcpy (self->value, value, n_bytes);
  self->value[n_bytes] = '\0';
  self->n_bytes = n_bytes;
  return self;
}

SbxSecret *
sbx_secret_ref (SbxSecret *self)
{
  g_ref_count_inc (&self->refs);
  return self;
}

void
sbx_secret_unref (SbxSecret *self)
{
  if (self == NULL || !g_ref_count_dec (&self->refs))
    return;
  sbx_secret_poison (self);
  g_free (self);
}

const char *
sbx_secret_peek (SbxSecret *self, gsize *ret_n_bytes)
{
  if (ret_n_bytes != NULL)
    *ret_n_bytes = self->n_bytes;
  return self->value;
}

void
sbx_secret_poison (SbxSecret *self)
{
  if (self->value == NULL)
    return;
  /* The compiler may not leave this out, as it may a memset() before a free. */
  explicit_bzero (self->value, self->n_bytes);
  self->n_bytes = 0;
  g_clear_pointer (&self->value, g_free);
}
