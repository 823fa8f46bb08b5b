/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "cleanup/run-dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/names.h"

/* Ours have one level. */
#define MAX_DEPTH 16u

typedef DIR SbxDir;

static void
dir_close (SbxDir *dir)
{
  (void) closedir (dir);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxDir, dir_close)

static gboolean
is_dots (const char *name)
{
  return strcmp (name, ".") == 0 || strcmp (name, "..") == 0;
}

static int remove_below (int parent, const char *name, dev_t device, guint depth);

/* Takes over fd. Returns 0 or a negative errno: the first that was met, the rest having been tried all the
 * same. */
static int
empty_directory (int fd, dev_t device, guint depth)
{
  g_autoptr (SbxDir) dir = fdopendir (fd);
  int first = 0;

  if (dir == NULL)
    {
      int saved_errno = errno;

      sbx_fd_close (fd);
      return -saved_errno;
    }
  for (struct dirent *entry = readdir (dir); entry != NULL; entry = readdir (dir))
    {
      int r = is_dots (entry->d_name) ? 0 : remove_below (dirfd (dir), entry->d_name, device, depth);

      if (first == 0)
        first = r;
    }
  return first;
}

static int
remove_below (int parent, const char *name, dev_t device, guint depth)
{
  g_auto (SbxFd) fd = -1;
  struct stat info;
  int r;

  if (unlinkat (parent, name, 0) == 0 || errno == ENOENT)
    return 0;
  if (errno != EISDIR && errno != EPERM)
    return -errno;

  /* A directory; where it has become a link meanwhile, this fails. */
  fd = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT ? 0 : -errno;
  if (fstat (fd, &info) < 0)
    return -errno;
  if (info.st_dev != device)
    return -EXDEV;
  if (depth >= MAX_DEPTH)
    return -ELOOP;

  r = empty_directory (g_steal_fd (&fd), device, depth + 1);
  if (unlinkat (parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
    return 0;
  /* Why something in it stays says more than "not empty". */
  return r < 0 ? r : -errno;
}

void
sbx_sweep_run_dirs (SbxSweep *self, const char *parent)
{
  g_auto (SbxFd) fd = open (parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  g_autoptr (SbxDir) dir = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  struct stat info;
  int copy;

  if (fd < 0 || fstat (fd, &info) < 0)
    {
      if (errno != ENOENT)
        sbx_sweep_fail (self, parent, g_strerror (errno));
      return;
    }
  copy = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  dir = copy < 0 ? NULL : fdopendir (copy);
  if (dir == NULL)
    {
      sbx_sweep_fail (self, parent, g_strerror (errno));
      sbx_fd_close (copy);
      return;
    }
  /* Names first: removing while reading may hide entries. */
  for (struct dirent *entry = readdir (dir); entry != NULL; entry = readdir (dir))
    if (g_str_has_prefix (entry->d_name, SBX_TURN_DIR_PREFIX))
      g_ptr_array_add (names, g_strdup (entry->d_name));

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      gboolean late = sbx_sweep_time_left (self, 1) == 0;
      int r = late || self->dry_run ? 0 : remove_below (fd, name, info.st_dev, 0);

      sbx_sweep_tell (self, "directory", name, late ? SBX_SWEEP_NO_TIME : r < 0 ? g_strerror (-r) : NULL);
    }
}
