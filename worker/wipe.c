/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wipe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/* A directory that was moved up to be emptied. */
#define MOVED_FORMAT ".wipe-%u"

typedef DIR SbxDir;

static void
dir_close (SbxDir *dir)
{
  (void) closedir (dir);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxDir, dir_close)

typedef struct {
  int top;
  dev_t device;
  guint n_moved;
  gboolean progress; /* something was removed or moved in this round */
  int first_error;
} Wipe;

static void
note (Wipe *self, int error)
{
  if (self->first_error == 0)
    self->first_error = error;
}

static GPtrArray *
names_in (int directory)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (SbxDir) dir = NULL;
  int fd = openat (directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (fd < 0)
    return NULL;
  dir = fdopendir (fd);
  if (dir == NULL)
    {
      sbx_fd_close (fd);
      return NULL;
    }
  for (struct dirent *entry = readdir (dir); entry != NULL; entry = readdir (dir))
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      g_ptr_array_add (names, g_strdup (entry->d_name));
  return g_steal_pointer (&names);
}

/* Anything but a directory that still holds something. */
static gboolean
remove_plain (Wipe *self, int parent, const char *name)
{
  if (unlinkat (parent, name, 0) < 0 && errno != ENOENT && unlinkat (parent, name, AT_REMOVEDIR) < 0
      && errno != ENOENT)
    return FALSE;
  self->progress = TRUE;
  return TRUE;
}

/* A directory can only be moved and read by its owner when its mode says so, and the guest may have changed
 * it. It is one, and no link: unlink() has just refused it, and nobody else works here. */
static void
make_accessible (Wipe *self, int parent, const char *name)
{
  if (fchmodat (parent, name, 0700, 0) < 0)
    note (self, -errno);
}

static void
move_up (Wipe *self, int parent, const char *name)
{
  for (guint tries = 0; tries < 1000; tries++)
    {
      g_autofree char *moved = g_strdup_printf (MOVED_FORMAT, self->n_moved++);

      if (renameat (parent, name, self->top, moved) == 0)
        {
          self->progress = TRUE;
          return;
        }
      if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR && errno != EISDIR)
        break;
    }
  note (self, -errno);
}

static void
empty_directory (Wipe *self, const char *name)
{
  g_auto (SbxFd) fd = -1;
  g_autoptr (GPtrArray) names = NULL;
  struct stat status;

  make_accessible (self, self->top, name);
  fd = openat (self->top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || fstat (fd, &status) < 0)
    {
      note (self, -errno);
      return;
    }
  if (status.st_dev != self->device)
    {
      note (self, -EXDEV);
      return;
    }
  names = names_in (fd);
  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *inner = names->pdata[i];

      if (remove_plain (self, fd, inner))
        continue;
      make_accessible (self, fd, inner);
      move_up (self, fd, inner);
    }
  if (unlinkat (self->top, name, AT_REMOVEDIR) == 0)
    self->progress = TRUE;
  else
    note (self, -errno);
}

int
sbx_wipe (const char *directory)
{
  g_auto (SbxFd) top = open (directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  Wipe wipe = { .top = top };
  struct stat status;

  if (top < 0 || fstat (top, &status) < 0)
    return -errno;
  wipe.device = status.st_dev;
  for (;;)
    {
      g_autoptr (GPtrArray) names = names_in (top);

      if (names == NULL)
        return -errno;
      if (names->len == 0)
        return 0;
      wipe.progress = FALSE;
      wipe.first_error = 0;
      for (guint i = 0; i < names->len; i++)
        if (!remove_plain (&wipe, top, names->pdata[i]))
          empty_directory (&wipe, names->pdata[i]);
      if (!wipe.progress)
        return wipe.first_error != 0 ? wipe.first_error : -ENOTEMPTY;
    }
}
