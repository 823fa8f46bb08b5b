/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "tar.h"

#include <string.h>

#define BLOCK_BYTES 512u

/* POSIX.1-1988 ustar. */
typedef struct {
  char name[100];
  char mode[8];
  char uid[8];
  char gid[8];
  char size[12];
  char mtime[12];
  char checksum[8];
  char type;
  char target[100];
  char magic[6];
  char version[2];
  char owner[32];
  char group[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char padding[12];
} Header;

G_STATIC_ASSERT (sizeof (Header) == BLOCK_BYTES);

struct _SbxTar {
  GByteArray *bytes;
};

SbxTar *
sbx_tar_new (void)
{
  SbxTar *self = g_new0 (SbxTar, 1);

  self->bytes = g_byte_array_new ();
  return self;
}

void
sbx_tar_free (SbxTar *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->bytes, g_byte_array_unref);
  g_free (self);
}

/* The fields need no terminator where they are full, so the copies are of bytes. */
static gboolean
set_path (Header *header, const char *path)
{
  const char *cut = path;

  if (strlen (path) > sizeof header->name)
    {
      cut = strchr (path + strlen (path) - sizeof header->name - 1, '/');
      if (cut == NULL || (gsize) (cut - path) > sizeof header->prefix)
        return FALSE;
      memcpy (header->prefix, path, (gsize) (cut - path));
      cut++;
    }
  memcpy (header->name, cut, strlen (cut));
  return TRUE;
}

static void
set_checksum (Header *header)
{
  const guchar *bytes = (const guchar *) header;
  guint sum = 0;

  memset (header->checksum, ' ', sizeof header->checksum);
  for (gsize i = 0; i < sizeof *header; i++)
    sum += bytes[i];
  g_snprintf (header->checksum, sizeof header->checksum, "%06o", sum);
}

static void
pad (GByteArray *bytes)
{
  static const guint8 zeroes[BLOCK_BYTES];
  guint over = bytes->len % BLOCK_BYTES;

  if (over > 0)
    g_byte_array_append (bytes, zeroes, BLOCK_BYTES - over);
}

static gboolean
add (SbxTar *self, const char *path, guint mode, char type, const char *target, gconstpointer data,
     gsize n_bytes)
{
  Header header = { .type = type, .magic = "ustar", .version = { '0', '0' } };

  g_return_val_if_fail (self != NULL && path != NULL && *path != '/', FALSE);

  if (!set_path (&header, path) || (target != NULL && strlen (target) > sizeof header.target))
    return FALSE;
  g_snprintf (header.mode, sizeof header.mode, "%07o", mode);
  g_snprintf (header.uid, sizeof header.uid, "%07o", 0u);
  g_snprintf (header.gid, sizeof header.gid, "%07o", 0u);
  g_snprintf (header.size, sizeof header.size, "%011" G_GINT64_MODIFIER "o", (guint64) n_bytes);
  g_snprintf (header.mtime, sizeof header.mtime, "%011o", 0u);
  if (target != NULL)
    memcpy (header.target, target, strlen (target));
  set_checksum (&header);
  g_byte_array_append (self->bytes, (const guint8 *) &header, sizeof header);
  if (n_bytes > 0)
    g_byte_array_append (self->bytes, data, (guint) n_bytes);
  pad (self->bytes);
  return TRUE;
}

gboolean
sbx_tar_add_directory (SbxTar *self, const char *path, guint mode)
{
  g_autofree char *with_slash = g_strconcat (path, "/", NULL);

  return add (self, with_slash, mode, '5', NULL, NULL, 0);
}

gboolean
sbx_tar_add_file (SbxTar *self, const char *path, guint mode, gconstpointer data, gsize n_bytes)
{
  return add (self, path, mode, '0', NULL, data, n_bytes);
}

gboolean
sbx_tar_add_link (SbxTar *self, const char *path, guint mode, const char *target)
{
  return add (self, path, mode, '1', target, NULL, 0);
}

GBytes *
sbx_tar_end (SbxTar *self)
{
  static const guint8 zeroes[2 * BLOCK_BYTES];

  g_return_val_if_fail (self != NULL && self->bytes != NULL, NULL);

  g_byte_array_append (self->bytes, zeroes, sizeof zeroes);
  return g_byte_array_free_to_bytes (g_steal_pointer (&self->bytes));
}
