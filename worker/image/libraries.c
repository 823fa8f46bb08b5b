/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "libraries.h"

#include <elf.h>
#include <gio/gio.h>
#include <string.h>

#include "image-tar.h"

static gboolean
fail (GError **error, SbxImageError code, const char *what, const char *program)
{
  g_set_error (error, SBX_IMAGE_ERROR, code, "%s: %s", program, what);
  return FALSE;
}

gboolean
sbx_libraries_loader (const char *program, char **ret_loader, GError **error)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new (program, FALSE, NULL);
  const char *data;
  gsize n_bytes;
  Elf64_Ehdr head;

  if (file == NULL)
    return fail (error, SBX_IMAGE_ERROR_MISSING, "cannot be read; is the worker installed?", program);
  data = g_mapped_file_get_contents (file);
  n_bytes = g_mapped_file_get_length (file);
  if (n_bytes < sizeof head || memcmp (data, ELFMAG, SELFMAG) != 0 || data[EI_CLASS] != ELFCLASS64)
    return fail (error, SBX_IMAGE_ERROR_READ, "is not a 64-bit program", program);
  memcpy (&head, data, sizeof head);
  *ret_loader = NULL;
  for (guint i = 0; i < head.e_phnum; i++)
    {
      Elf64_Phdr part;

      if (head.e_phentsize != sizeof part || head.e_phoff > n_bytes
          || n_bytes - head.e_phoff < (i + 1) * sizeof part)
        return fail (error, SBX_IMAGE_ERROR_READ, "is cut short", program);
      memcpy (&part, data + head.e_phoff + i * sizeof part, sizeof part);
      if (part.p_type != PT_INTERP)
        continue;
      if (part.p_offset > n_bytes || n_bytes - part.p_offset < part.p_filesz)
        return fail (error, SBX_IMAGE_ERROR_READ, "is cut short", program);
      *ret_loader = g_strndup (data + part.p_offset, part.p_filesz);
    }
  return TRUE;
}

char *
sbx_libraries_parse_line (const char *line, gboolean *ret_missing)
{
  const char *arrow = strstr (line, "=> ");
  const char *start = arrow != NULL ? arrow + 3 : line;
  const char *end;

  *ret_missing = arrow != NULL && g_str_has_prefix (start, "not found");
  while (g_ascii_isspace (*start))
    start++;
  end = strstr (start, " (0x");
  return *start == '/' && end != NULL ? g_strndup (start, (gsize) (end - start)) : NULL;
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
parse_list (const char *program, const char *loader, const char *list, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (list, "\n", -1);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      gboolean missing;
      char *path = sbx_libraries_parse_line (lines[i], &missing);

      if (missing)
        {
          fail (error, SBX_IMAGE_ERROR_MISSING, "needs a library that is not installed", program);
          return NULL;
        }
      if (g_strcmp0 (path, loader) == 0)
        g_clear_pointer (&path, g_free);
      if (path != NULL)
        g_ptr_array_add (paths, path);
    }
  g_ptr_array_sort (paths, compare_texts);
  return g_steal_pointer (&paths);
}

GPtrArray *
sbx_libraries_of (const char *program, GError **error)
{
  g_autofree char *loader = NULL;
  g_autofree char *list = NULL;
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  g_autoptr (GSubprocess) process = NULL;
  char *no_environment[] = { NULL };

  if (!sbx_libraries_loader (program, &loader, error))
    return NULL;
  if (loader == NULL)
    return g_ptr_array_new_with_free_func (g_free);
  /* No environment: LD_LIBRARY_PATH and its like must not choose what goes into the image. */
  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_set_environ (launcher, no_environment);
  process = g_subprocess_launcher_spawn (launcher, NULL, loader, "--list", program, NULL);
  if (process == NULL || !g_subprocess_communicate_utf8 (process, NULL, NULL, &list, NULL, NULL)
      || !g_subprocess_get_successful (process))
    {
      fail (error, SBX_IMAGE_ERROR_LOADER, "its dynamic loader could not list its libraries", program);
      return NULL;
    }
  return parse_list (program, loader, list, error);
}
