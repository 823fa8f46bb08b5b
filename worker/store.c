/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define MAX_TRIES 16u
/* A guest may have made any number of files; what is not found among these is left for another turn. */
#define MAX_LOOKED_AT 4096u

struct _SbxStore {
  SbxFd dir_fd;
};

G_DEFINE_QUARK (sbx - store - error - quark, sbx_store_error)

static gboolean
fail (GError **error, const char *what, const char *name, int number)
{
  SbxStoreError code =
    number == ENOSPC || number == EDQUOT || number == EFBIG ? SBX_STORE_ERROR_FULL : SBX_STORE_ERROR_IO;

  g_set_error (error, SBX_STORE_ERROR, code, "cannot %s %s: %s", what, name, g_strerror (number));
  return FALSE;
}

SbxStore *
sbx_store_open (const char *directory, GError **error)
{
  SbxStore *self;
  int fd;

  g_return_val_if_fail (directory != NULL, NULL);

  if (g_mkdir_with_parents (directory, 0700) != 0)
    {
      fail (error, "make the directory", directory, errno);
      return NULL;
    }
  fd = open (directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    {
      fail (error, "open the directory", directory, errno);
      return NULL;
    }
  self = g_new0 (SbxStore, 1);
  self->dir_fd = fd;
  return self;
}

void
sbx_store_free (SbxStore *self)
{
  if (self == NULL)
    return;
  sbx_fd_close (self->dir_fd);
  g_free (self);
}

static gboolean
read_all (int fd, const char *name, gsize size, GBytes **ret_data, GError **error)
{
  g_autofree char *data = g_malloc (size + 1);
  gsize n = 0;

  while (n < size)
    {
      ssize_t got = read (fd, data + n, size - n);

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return fail (error, "read", name, errno);
      if (got == 0)
        break; /* cut by somebody meanwhile: what is left will not be whole JSON */
      n += (gsize) got;
    }
  *ret_data = g_bytes_new_take (g_steal_pointer (&data), n);
  return TRUE;
}

gboolean
sbx_store_read (SbxStore *self, const char *name, GBytes **ret_data, GError **error)
{
  g_auto (SbxFd) fd = -1;
  struct stat st;

  g_return_val_if_fail (self != NULL && name != NULL && ret_data != NULL, FALSE);

  /* O_NONBLOCK: opening a FIFO must not wait for its other end. */
  fd = openat (self->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT)
    {
      *ret_data = NULL;
      return TRUE;
    }
  if (fd < 0 && (errno == EIO || errno == ENOMEM || errno == EMFILE || errno == ENFILE))
    return fail (error, "open", name, errno);
  if (fd < 0)
    { /* a link, a socket, a file without rights */
      g_set_error (error, SBX_STORE_ERROR, SBX_STORE_ERROR_UNREADABLE, "cannot open %s: %s", name,
                   g_strerror (errno));
      return FALSE;
    }
  if (fstat (fd, &st) < 0)
    return fail (error, "look at", name, errno);
  if (!S_ISREG (st.st_mode) || st.st_size > (off_t) SBX_STORE_MAX_BYTES)
    {
      g_set_error (error, SBX_STORE_ERROR, SBX_STORE_ERROR_UNREADABLE, "%s is %s", name,
                   S_ISREG (st.st_mode) ? "too large" : "not a regular file");
      return FALSE;
    }
  return read_all (fd, name, (gsize) st.st_size, ret_data, error);
}

/* A new, empty file under a name that nobody else has. The first try is always the same name, so that what a
 * crash left does not pile up; where somebody has made that one impossible (a directory), names at random. */
static int
open_temporary (SbxStore *self, const char *name, char **ret_temporary)
{
  for (guint i = 0; i < MAX_TRIES; i++)
    {
      g_autofree char *temporary =
        i == 0 ? g_strdup_printf (".%s.new", name)
               : g_strdup_printf (".%s.new-%08x%08x", name, g_random_int (), g_random_int ());
      int fd;

      (void) unlinkat (self->dir_fd, temporary, 0);
      fd = openat (self->dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
      if (fd >= 0)
        {
          *ret_temporary = g_steal_pointer (&temporary);
          return fd;
        }
      if (errno != EEXIST && errno != EISDIR)
        return -1;
    }
  errno = EEXIST;
  return -1;
}

static gboolean
write_all (int fd, const char *data, gsize n_bytes)
{
  while (n_bytes > 0)
    {
      ssize_t put = write (fd, data, n_bytes);

      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return FALSE;
      data += put;
      n_bytes -= (gsize) put;
    }
  return TRUE;
}

gboolean
sbx_store_write (SbxStore *self, const char *name, const char *data, gsize n_bytes, GError **error)
{
  g_auto (SbxFd) fd = -1;
  g_autofree char *temporary = NULL;
  int number;

  g_return_val_if_fail (self != NULL && name != NULL && data != NULL, FALSE);

  fd = open_temporary (self, name, &temporary);
  if (fd < 0)
    return fail (error, "make a new file for", name, errno);
  /* The mode whatever the umask; the data before the name, or a crash could leave an empty file under it. */
  if (fchmod (fd, 0600) == 0 && write_all (fd, data, n_bytes) && fsync (fd) == 0
      && renameat (self->dir_fd, temporary, self->dir_fd, name) == 0)
    return fsync (self->dir_fd) == 0 || fail (error, "flush the directory of", name, errno);
  number = errno;
  (void) unlinkat (self->dir_fd, temporary, 0);
  return fail (error, "write", name, number);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Names begin alike and go on with the time, so the oldest come first. A directory with something in it
 * stays. */
static void
remove_oldest (SbxStore *self, const char *name)
{
  g_autofree char *prefix = g_strconcat (name, ".corrupt-", NULL);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  int fd = openat (self->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = fd >= 0 ? fdopendir (fd) : NULL;
  const struct dirent *entry;

  if (directory == NULL)
    {
      sbx_fd_close (fd);
      return;
    }
  for (guint i = 0; i < MAX_LOOKED_AT && (entry = readdir (directory)) != NULL; i++)
    if (g_str_has_prefix (entry->d_name, prefix))
      g_ptr_array_add (found, g_strdup (entry->d_name));
  closedir (directory);
  g_ptr_array_sort (found, compare_names);
  for (guint i = 0; i + SBX_STORE_MAX_ASIDE < found->len; i++)
    if (unlinkat (self->dir_fd, found->pdata[i], 0) != 0)
      (void) unlinkat (self->dir_fd, found->pdata[i], AT_REMOVEDIR);
}

gboolean
sbx_store_set_aside (SbxStore *self, const char *name, GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y%m%dT%H%M%SZ");

  g_return_val_if_fail (self != NULL && name != NULL, FALSE);

  for (guint i = 0; i < MAX_TRIES; i++)
    {
      g_autofree char *aside = i == 0 ? g_strdup_printf ("%s.corrupt-%s", name, time)
                                      : g_strdup_printf ("%s.corrupt-%s-%u", name, time, i);

      if (renameat2 (self->dir_fd, name, self->dir_fd, aside, RENAME_NOREPLACE) == 0)
        {
          remove_oldest (self, name);
          return TRUE;
        }
      if (errno != EEXIST)
        break;
    }
  return fail (error, "set aside", name, errno);
}
