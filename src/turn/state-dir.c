/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/state-dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define TEMPORARY ".tmp"

G_DEFINE_QUARK (sbx - state - dir - error - quark, sbx_state_dir_error)

struct _SbxStateDir {
  SbxFd fd;
  char *path;
};

static gboolean
set_errno_error (const SbxStateDir *self, const char *doing, const char *name, GError **error)
{
  int saved_errno = errno;

  g_set_error (error, SBX_STATE_DIR_ERROR, SBX_STATE_DIR_ERROR_IO, "Cannot %s %s%s%s: %s", doing, self->path,
               name != NULL ? "/" : "", name != NULL ? name : "", g_strerror (saved_errno));
  return FALSE;
}

static gboolean
check_owner (const SbxStateDir *self, const char *name, int fd, mode_t kind, GError **error)
{
  struct stat status;

  if (fstat (fd, &status) < 0)
    return set_errno_error (self, "look at", name, error);
  if ((status.st_mode & S_IFMT) == kind && status.st_uid == geteuid () && (status.st_mode & 077) == 0)
    return TRUE;
  g_set_error (
    error, SBX_STATE_DIR_ERROR, SBX_STATE_DIR_ERROR_UNSAFE,
    "%s%s%s must be a %s that belongs to the service's user (%u) and that nobody else can enter or read "
    "(it has owner %u, mode %04o)",
    self->path, name != NULL ? "/" : "", name != NULL ? name : "",
    kind == S_IFDIR ? "directory" : "regular file", (guint) geteuid (), (guint) status.st_uid,
    (guint) (status.st_mode & 07777));
  return FALSE;
}

SbxStateDir *
sbx_state_dir_open (const char *path, GError **error)
{
  g_autoptr (SbxStateDir) self = g_new0 (SbxStateDir, 1);

  self->path = g_strdup (path);
  self->fd = -1;
  if (g_mkdir_with_parents (path, 0700) < 0)
    {
      (void) set_errno_error (self, "make", NULL, error);
      return NULL;
    }
  self->fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (self->fd < 0)
    {
      (void) set_errno_error (self, "open", NULL, error);
      return NULL;
    }
  return check_owner (self, NULL, self->fd, S_IFDIR, error) ? g_steal_pointer (&self) : NULL;
}

void
sbx_state_dir_free (SbxStateDir *self)
{
  if (self == NULL)
    return;
  sbx_fd_close (self->fd);
  g_free (self->path);
  g_free (self);
}

gboolean
sbx_state_dir_read (SbxStateDir *self, const char *name, gsize max_bytes, char **ret_text, gsize *ret_n_bytes,
                    GError **error)
{
  g_auto (SbxFd) fd = openat (self->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint8 piece[16384];
  gssize n;

  *ret_text = NULL;
  *ret_n_bytes = 0;
  if (fd < 0 && errno == ENOENT)
    return TRUE;
  if (fd < 0 && errno == ELOOP)
    {
      g_set_error (error, SBX_STATE_DIR_ERROR, SBX_STATE_DIR_ERROR_UNSAFE,
                   "%s/%s is a link; put the file itself there", self->path, name);
      return FALSE;
    }
  if (fd < 0)
    return set_errno_error (self, "open", name, error);
  if (!check_owner (self, name, fd, S_IFREG, error))
    return FALSE;
  while ((n = read (fd, piece, sizeof piece)) > 0 && bytes->len <= max_bytes)
    g_byte_array_append (bytes, piece, (guint) n);
  if (n < 0)
    return set_errno_error (self, "read", name, error);
  if (bytes->len > max_bytes)
    {
      g_set_error (error, SBX_STATE_DIR_ERROR, SBX_STATE_DIR_ERROR_TOO_LARGE,
                   "%s/%s is longer than %zu bytes", self->path, name, max_bytes);
      return FALSE;
    }
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

gboolean
sbx_state_dir_write (SbxStateDir *self, const char *name, const char *text, gsize n_bytes,
                     SbxStateDepth depth, GError **error)
{
  g_autofree char *temporary = g_strconcat (name, TEMPORARY, NULL);
  g_auto (SbxFd) fd = -1;

  /* What an earlier life left half written. */
  (void) unlinkat (self->fd, temporary, 0);
  fd = openat (self->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0 && write_all (fd, text, n_bytes) && (depth == SBX_STATE_SEEN || fsync (fd) == 0)
      && renameat (self->fd, temporary, self->fd, name) == 0
      && (depth == SBX_STATE_SEEN || fsync (self->fd) == 0))
    return TRUE;
  (void) set_errno_error (self, "write", name, error);
  if (fd >= 0)
    (void) unlinkat (self->fd, temporary, 0);
  return FALSE;
}

gboolean
sbx_state_dir_rename (SbxStateDir *self, const char *from, const char *to, GError **error)
{
  return renameat (self->fd, from, self->fd, to) == 0 || set_errno_error (self, "rename", from, error);
}

void
sbx_state_dir_remove (SbxStateDir *self, const char *name)
{
  (void) unlinkat (self->fd, name, 0);
}

gboolean
sbx_state_dir_sync (SbxStateDir *self, GPtrArray *names, GError **error)
{
  gboolean fine = TRUE;

  for (guint i = 0; i < names->len; i++)
    {
      g_auto (SbxFd) fd = openat (self->fd, names->pdata[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

      if (fd < 0 && errno == ENOENT)
        continue;
      if (fd < 0 || fsync (fd) < 0)
        fine = set_errno_error (self, "bring to the disk", names->pdata[i], fine ? error : NULL);
    }
  if (fsync (self->fd) < 0)
    fine = set_errno_error (self, "bring to the disk", NULL, fine ? error : NULL);
  return fine;
}

GPtrArray *
sbx_state_dir_list (SbxStateDir *self)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  SbxFd fd = openat (self->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = fd >= 0 ? fdopendir (fd) : NULL;
  const struct dirent *entry;

  if (directory == NULL)
    {
      sbx_fd_close (fd);
      return names;
    }
  while ((entry = readdir (directory)) != NULL)
    if (entry->d_name[0] != '.' && !g_str_has_suffix (entry->d_name, TEMPORARY))
      g_ptr_array_add (names, g_strdup (entry->d_name));
  (void) closedir (directory);
  return names;
}
