/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/search.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "config/config.h"
#include "sbx-config.h"

/* Highest first. */
static const char *const places[] = { SBX_SYSCONFDIR, SBX_RUN_CONFIG_DIR, SBX_VENDOR_CONFIG_DIR };

void
sbx_config_file_free (SbxConfigFile *self)
{
  if (self == NULL)
    return;
  g_free (self->path);
  g_free (self->content);
  g_free (self);
}

static void
read_error (GError **error, const char *path, int number)
{
  g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_READ, "%s cannot be read: %s", path,
               g_strerror (number));
}

static gboolean
read_all (int fd, const char *path, GString *content, GError **error)
{
  char buffer[8192];
  gssize n;

  while ((n = read (fd, buffer, sizeof buffer)) != 0)
    {
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          read_error (error, path, errno);
          return FALSE;
        }
      g_string_append_len (content, buffer, n);
      if (content->len > SBX_MAX_CONFIG_FILE_BYTES)
        {
          g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_READ,
                       "%s is too large: a configuration file has at most %u bytes", path,
                       SBX_MAX_CONFIG_FILE_BYTES);
          return FALSE;
        }
    }
  return TRUE;
}

/* Reads path. TRUE with *ret_file NULL: it masks those below it. */
static gboolean
read_file (const char *path, SbxConfigFile **ret_file, GError **error)
{
  /* Non-blocking, so that a pipe in the place of a file cannot hold the program up. */
  g_auto (SbxFd) fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  g_autoptr (GString) content = g_string_new (NULL);
  struct stat st;
  SbxConfigFile *file;

  if (fd < 0 || fstat (fd, &st) < 0)
    {
      read_error (error, path, errno);
      return FALSE;
    }
  if (S_ISCHR (st.st_mode)) /* a link to /dev/null */
    {
      *ret_file = NULL;
      return TRUE;
    }
  if (!S_ISREG (st.st_mode))
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_READ, "%s is not a regular file", path);
      return FALSE;
    }
  if (!read_all (fd, path, content, error))
    return FALSE;
  if (content->len == 0)
    {
      *ret_file = NULL;
      return TRUE;
    }
  file = g_new0 (SbxConfigFile, 1);
  file->path = g_strdup (path);
  file->n_bytes = content->len;
  file->content = g_string_free (g_steal_pointer (&content), FALSE);
  *ret_file = file;
  return TRUE;
}

static char *
place_path (const char *root, const char *place, const char *name)
{
  return g_strconcat (root != NULL ? root : "", place, "/", name, NULL);
}

SbxConfigFile *
sbx_config_search_file (const char *root, const char *name, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = place_path (root, places[i], name);
      SbxConfigFile *file = NULL;
      struct stat st;

      if (lstat (path, &st) < 0)
        {
          if (errno == ENOENT || errno == ENOTDIR)
            continue;
          read_error (error, path, errno);
          return NULL;
        }
      if (!read_file (path, &file, error))
        return NULL;
      return file;
    }
  return NULL;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Adds the names of one directory to names, each once; a missing directory is fine. */
static gboolean
collect_names (const char *path, const char *suffix, GHashTable *seen, GPtrArray *names, GError **error)
{
  g_autoptr (GError) open_error = NULL;
  g_autoptr (GDir) dir = g_dir_open (path, 0, &open_error);
  const char *name;

  if (dir == NULL
      && (g_error_matches (open_error, G_FILE_ERROR, G_FILE_ERROR_NOENT)
          || g_error_matches (open_error, G_FILE_ERROR, G_FILE_ERROR_NOTDIR)))
    return TRUE;
  if (dir == NULL)
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_READ, "%s", open_error->message);
      return FALSE;
    }
  while ((name = g_dir_read_name (dir)) != NULL)
    if (name[0] != '.' && g_str_has_suffix (name, suffix) && !g_hash_table_contains (seen, name))
      {
        char *copy = g_strdup (name);

        g_ptr_array_add (names, copy);
        g_hash_table_add (seen, copy);
      }
  return TRUE;
}

GPtrArray *
sbx_config_search_directory (const char *root, const char *directory, const char *suffix, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_config_file_free);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = place_path (root, places[i], directory);

      if (!collect_names (path, suffix, seen, names, error))
        return NULL;
    }
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    {
      g_autoptr (GError) file_error = NULL;
      g_autofree char *name = g_build_filename (directory, g_ptr_array_index (names, i), NULL);
      SbxConfigFile *file = sbx_config_search_file (root, name, &file_error);

      if (file_error != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&file_error));
          return NULL;
        }
      if (file != NULL)
        g_ptr_array_add (files, file);
    }
  return g_steal_pointer (&files);
}
