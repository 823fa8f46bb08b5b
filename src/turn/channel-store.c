/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/channel-store.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json-gate.h"
#include "base/json-write.h"
#include "wire/bounds.h"

/* All keys at their longest, every byte escaped, would not fit; nobody has that, and the writer refuses it.
 */
#define MAX_FILE_BYTES (8u * 1024u * 1024u)

G_DEFINE_QUARK (sbx - channel - store - error - quark, sbx_channel_store_error)

struct _SbxChannelStore {
  SbxFd directory;
  char *name;
  char *path;
  GHashTable *keys;
};

gboolean
sbx_channel_key_is_valid (const char *key)
{
  gsize n_bytes = strlen (key);
  const char *place = key;

  if (n_bytes == 0 || n_bytes > SBX_MAX_CHANNEL_BYTES || !g_utf8_validate (key, -1, NULL)
      || !g_ascii_islower (*place))
    return FALSE;
  while (g_ascii_islower (*place) || g_ascii_isdigit (*place) || *place == '_' || *place == '-')
    place++;
  if (*place != ':' || place[1] == '\0')
    return FALSE;
  /* The four line ends of ECMAScript, which `.` does not match. */
  return strpbrk (place, "\n\r") == NULL && strstr (place, "\xe2\x80\xa8") == NULL
         && strstr (place, "\xe2\x80\xa9") == NULL;
}

char *
sbx_channel_hash (const char *key)
{
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, key, -1);
}

static gboolean
set_errno_error (GError **error, const char *doing, const char *path)
{
  int saved_errno = errno;

  g_set_error (error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_IO, "Cannot %s %s: %s", doing, path,
               g_strerror (saved_errno));
  return FALSE;
}

static gboolean
check_owner (const char *path, int fd, mode_t kind, GError **error)
{
  struct stat status;

  if (fstat (fd, &status) < 0)
    return set_errno_error (error, "look at", path);
  if ((status.st_mode & S_IFMT) == kind && status.st_uid == geteuid () && (status.st_mode & 077) == 0)
    return TRUE;
  g_set_error (
    error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_UNSAFE,
    "%s must be a %s that belongs to the service's user (%u) and that nobody else can enter or read "
    "(it has owner %u, mode %04o)",
    path, kind == S_IFDIR ? "directory" : "regular file", (guint) geteuid (), (guint) status.st_uid,
    (guint) (status.st_mode & 07777));
  return FALSE;
}

static gboolean
store_read (SbxChannelStore *self, const char *text, gsize n_bytes, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (JsonNode) root = sbx_json_read (text, n_bytes, MAX_FILE_BYTES, &local_error);
  JsonArray *list;

  if (root == NULL || !JSON_NODE_HOLDS_ARRAY (root))
    {
      g_set_error (error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_MALFORMED,
                   "%s must be a JSON list of channel keys (%s); mend it or move it away", self->path,
                   local_error != NULL ? local_error->message : "it is something else");
      return FALSE;
    }
  list = json_node_get_array (root);
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonNode *node = json_array_get_element (list, i);
      const char *key = json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node) : NULL;

      if (key == NULL || !sbx_channel_key_is_valid (key) || i >= SBX_CHANNEL_STORE_MAX)
        {
          g_set_error (error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_MALFORMED,
                       "Entry %u of %s is not a channel key such as \"discord:123\"; mend or remove it",
                       i + 1, self->path);
          return FALSE;
        }
      g_hash_table_add (self->keys, g_strdup (key));
    }
  return TRUE;
}

/* TRUE with *ret_text NULL where there is no file. */
static gboolean
store_load (SbxChannelStore *self, char **ret_text, gsize *ret_n_bytes, GError **error)
{
  g_auto (SbxFd) fd = openat (self->directory, self->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint8 piece[16384];
  gssize n;

  if (fd < 0 && errno == ENOENT)
    return TRUE;
  if (fd < 0 && errno == ELOOP)
    {
      g_set_error (error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_UNSAFE,
                   "%s is a link; put the file itself there", self->path);
      return FALSE;
    }
  if (fd < 0)
    return set_errno_error (error, "open", self->path);
  if (!check_owner (self->path, fd, S_IFREG, error))
    return FALSE;
  while ((n = read (fd, piece, sizeof piece)) > 0 && bytes->len <= MAX_FILE_BYTES)
    g_byte_array_append (bytes, piece, (guint) n);
  if (n < 0)
    return set_errno_error (error, "read", self->path);
  *ret_n_bytes = bytes->len;
  g_byte_array_append (bytes, (const guint8 *) "", 1); /* an empty file is not the same as none */
  *ret_text = (char *) g_byte_array_free (g_steal_pointer (&bytes), FALSE);
  return TRUE;
}

static gboolean
write_all (int fd, const char *text, gsize n_bytes)
{
  while (n_bytes > 0)
    {
      gssize n = write (fd, text, n_bytes);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      text += n;
      n_bytes -= (gsize) n;
    }
  return TRUE;
}

static gboolean
store_write (SbxChannelStore *self, GError **error)
{
  g_autoptr (GPtrArray) keys = sbx_channel_store_list (self);
  g_autoptr (GString) text = g_string_new ("[");
  g_autofree char *temporary = g_strconcat (self->name, ".tmp", NULL);
  g_auto (SbxFd) fd = -1;

  for (guint i = 0; i < keys->len; i++)
    {
      if (i > 0)
        g_string_append_c (text, ',');
      sbx_json_write_text (text, keys->pdata[i], -1);
    }
  g_string_append (text, "]\n");
  /* What an earlier life left half written. */
  (void) unlinkat (self->directory, temporary, 0);
  fd = openat (self->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0 && write_all (fd, text->str, text->len) && fsync (fd) == 0
      && renameat (self->directory, temporary, self->directory, self->name) == 0
      && fsync (self->directory) == 0)
    return TRUE;
  (void) set_errno_error (error, "write", self->path);
  if (fd >= 0)
    (void) unlinkat (self->directory, temporary, 0);
  return FALSE;
}

SbxChannelStore *
sbx_channel_store_open (const char *path, const char *const *initial, GError **error)
{
  g_autoptr (SbxChannelStore) self = g_new0 (SbxChannelStore, 1);
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *text = NULL;
  gsize n_bytes = 0;

  self->directory = -1;
  self->path = g_strdup (path);
  self->name = g_path_get_basename (path);
  self->keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (g_mkdir_with_parents (directory, 0700) < 0)
    {
      (void) set_errno_error (error, "make", directory);
      return NULL;
    }
  self->directory = open (directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (self->directory < 0)
    {
      (void) set_errno_error (error, "open", directory);
      return NULL;
    }
  if (!check_owner (directory, self->directory, S_IFDIR, error) || !store_load (self, &text, &n_bytes, error))
    return NULL;
  if (text != NULL)
    return store_read (self, text, n_bytes, error) ? g_steal_pointer (&self) : NULL;
  for (guint i = 0; initial != NULL && initial[i] != NULL; i++)
    if (sbx_channel_key_is_valid (initial[i]))
      g_hash_table_add (self->keys, g_strdup (initial[i]));
  return store_write (self, error) ? g_steal_pointer (&self) : NULL;
}

void
sbx_channel_store_free (SbxChannelStore *self)
{
  if (self == NULL)
    return;
  sbx_fd_close (self->directory);
  g_hash_table_unref (self->keys);
  g_free (self->name);
  g_free (self->path);
  g_free (self);
}

gboolean
sbx_channel_store_has (SbxChannelStore *self, const char *key)
{
  return g_hash_table_contains (self->keys, key);
}

guint
sbx_channel_store_count (SbxChannelStore *self)
{
  return g_hash_table_size (self->keys);
}

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
sbx_channel_store_list (SbxChannelStore *self)
{
  GPtrArray *keys = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->keys);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (keys, key);
  g_ptr_array_sort (keys, compare_keys);
  return keys;
}

gboolean
sbx_channel_store_set (SbxChannelStore *self, const char *key, gboolean on, GError **error)
{
  g_return_val_if_fail (sbx_channel_key_is_valid (key), FALSE);

  if (on == sbx_channel_store_has (self, key))
    return TRUE;
  if (on && g_hash_table_size (self->keys) >= SBX_CHANNEL_STORE_MAX)
    {
      g_set_error (error, SBX_CHANNEL_STORE_ERROR, SBX_CHANNEL_STORE_ERROR_FULL,
                   "There are %u sandboxed channels already; switch one off first", SBX_CHANNEL_STORE_MAX);
      return FALSE;
    }
  if (on)
    g_hash_table_add (self->keys, g_strdup (key));
  else
    g_hash_table_remove (self->keys, key);
  if (store_write (self, error))
    return TRUE;
  if (on)
    g_hash_table_remove (self->keys, key);
  else
    g_hash_table_add (self->keys, g_strdup (key));
  return FALSE;
}
