/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/pack.h"

#include <gio/gio.h>
#include <string.h>

void
sbx_pack_u8 (GByteArray *out, guint8 value)
{
  g_byte_array_append (out, &value, sizeof value);
}

void
sbx_pack_u16 (GByteArray *out, guint16 value)
{
  guint16 wire = GUINT16_TO_BE (value);

  g_byte_array_append (out, (const guint8 *) &wire, sizeof wire);
}

void
sbx_pack_u32 (GByteArray *out, guint32 value)
{
  guint32 wire = GUINT32_TO_BE (value);

  g_byte_array_append (out, (const guint8 *) &wire, sizeof wire);
}

void
sbx_pack_text (GByteArray *out, const char *text)
{
  sbx_pack_bytes (out, text, text != NULL ? strlen (text) : 0);
}

void
sbx_pack_bytes (GByteArray *out, gconstpointer data, gsize n_bytes)
{
  g_return_if_fail (n_bytes <= G_MAXUINT32 - out->len - sizeof (guint32));

  sbx_pack_u32 (out, (guint32) n_bytes);
  if (n_bytes > 0)
    g_byte_array_append (out, data, (guint) n_bytes);
}

void
sbx_pack_texts (GByteArray *out, const char *const *texts)
{
  guint32 count = texts != NULL ? g_strv_length ((char **) texts) : 0;

  sbx_pack_u32 (out, count);
  for (guint32 i = 0; i < count; i++)
    sbx_pack_text (out, texts[i]);
}

void
sbx_unpack_init (SbxUnpack *self, gconstpointer data, gsize n_bytes)
{
  *self = (SbxUnpack){ .data = data, .n_bytes = n_bytes };
}

/* The next n_bytes bytes, or NULL with the fault noted. */
static const guint8 *
unpack_take (SbxUnpack *self, gsize n_bytes)
{
  const guint8 *taken;

  if (self->failed || n_bytes > self->n_bytes - self->place)
    {
      self->failed = TRUE;
      return NULL;
    }
  /* Only now: data is NULL where the whole is empty. */
  taken = self->data + self->place;
  self->place += n_bytes;
  return taken;
}

guint8
sbx_unpack_u8 (SbxUnpack *self)
{
  const guint8 *taken = unpack_take (self, sizeof (guint8));

  return taken != NULL ? *taken : 0;
}

guint16
sbx_unpack_u16 (SbxUnpack *self)
{
  const guint8 *taken = unpack_take (self, sizeof (guint16));
  guint16 wire = 0;

  if (taken != NULL)
    memcpy (&wire, taken, sizeof wire);
  return GUINT16_FROM_BE (wire);
}

guint32
sbx_unpack_u32 (SbxUnpack *self)
{
  const guint8 *taken = unpack_take (self, sizeof (guint32));
  guint32 wire = 0;

  if (taken != NULL)
    memcpy (&wire, taken, sizeof wire);
  return GUINT32_FROM_BE (wire);
}

gboolean
sbx_unpack_bool (SbxUnpack *self)
{
  guint8 value = sbx_unpack_u8 (self);

  if (value > 1)
    self->failed = TRUE;
  return value == 1;
}

char *
sbx_unpack_text (SbxUnpack *self, gsize max_bytes)
{
  gsize n_bytes = 0;
  const guint8 *bytes = sbx_unpack_bytes (self, max_bytes, &n_bytes);

  if (bytes == NULL)
    return NULL;
  /* A given length makes g_utf8_validate() refuse an embedded NUL as well. */
  if (!g_utf8_validate ((const char *) bytes, (gssize) n_bytes, NULL))
    {
      self->failed = TRUE;
      return NULL;
    }
  return g_strndup ((const char *) bytes, n_bytes);
}

const guint8 *
sbx_unpack_bytes (SbxUnpack *self, gsize max_bytes, gsize *ret_n_bytes)
{
  guint32 n_bytes = sbx_unpack_u32 (self);
  const guint8 *taken;

  if (n_bytes > max_bytes)
    self->failed = TRUE;
  taken = unpack_take (self, n_bytes);
  if (taken != NULL)
    *ret_n_bytes = n_bytes;
  return taken;
}

char **
sbx_unpack_texts (SbxUnpack *self, gsize max_texts, gsize max_bytes)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  guint32 count = sbx_unpack_u32 (self);

  if (count > max_texts)
    self->failed = TRUE;
  for (guint32 i = 0; i < count && !self->failed; i++)
    {
      g_autofree char *text = sbx_unpack_text (self, max_bytes);

      if (text != NULL)
        g_strv_builder_add (builder, text);
    }
  return self->failed ? NULL : g_strv_builder_end (builder);
}

gboolean
sbx_unpack_end (SbxUnpack *self, GError **error)
{
  if (!self->failed && self->place == self->n_bytes)
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "A frame's payload does not have the agreed form");
  return FALSE;
}
