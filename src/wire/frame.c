/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/frame.h"

#include <gio/gio.h>
#include <string.h>

static const guint8 magic[4] = { 'S', 'B', 'X', '1' };

static void
put_u32 (guint8 *place, guint32 value)
{
  guint32 wire = GUINT32_TO_BE (value);

  memcpy (place, &wire, sizeof wire);
}

static guint32
get_u32 (const guint8 *place)
{
  guint32 wire;

  memcpy (&wire, place, sizeof wire);
  return GUINT32_FROM_BE (wire);
}

void
sbx_frame_head_write (const SbxFrameHead *head, guint8 *ret_bytes)
{
  memcpy (ret_bytes, magic, sizeof magic);
  put_u32 (ret_bytes + 4, (guint32) head->type << 16);
  put_u32 (ret_bytes + 8, head->id);
  put_u32 (ret_bytes + 12, head->n_bytes);
}

const SbxFrameRule *
sbx_frame_head_read (const guint8 *bytes, const SbxFrameRule *rules, gsize n_rules, SbxFrameHead *ret_head,
                     GError **error)
{
  guint32 kind = get_u32 (bytes + 4);
  guint32 n_bytes = get_u32 (bytes + 12);

  if (memcmp (bytes, magic, sizeof magic) != 0 || (kind & 0xffff) != 0)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "Not a frame of ours");
      return NULL;
    }
  for (gsize i = 0; i < n_rules; i++)
    {
      if ((guint32) rules[i].type != kind >> 16)
        continue;
      if (n_bytes > rules[i].max_bytes)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "A frame of type 0x%04x is longer than %u bytes", kind >> 16, rules[i].max_bytes);
          return NULL;
        }
      *ret_head = (SbxFrameHead){ .type = rules[i].type, .id = get_u32 (bytes + 8), .n_bytes = n_bytes };
      return &rules[i];
    }
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "A frame of type 0x%04x is not expected here",
               kind >> 16);
  return NULL;
}
