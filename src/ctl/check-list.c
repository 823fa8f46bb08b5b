/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/check-list.h"

#include <stdio.h>
#include <string.h>

/* As sandbox-egress takes them, with one line end. */
#define MIN_KEY_BYTES 8
#define MAX_KEY_BYTES 8193

static const struct {
  const char *word;
  const char *color;
} results[] = {
  [SBX_CHECK_OK] = { "ok", "\033[32m" },
  [SBX_CHECK_WARNING] = { "warning", "\033[33m" },
  [SBX_CHECK_FAILED] = { "FAILED", "\033[31m" },
  [SBX_CHECK_NOT_MADE] = { "not made", "\033[2m" },
};

struct _SbxCheckList {
  SbxJsonMode json;
  gboolean color;
  SbxTable *table;
  guint counts[G_N_ELEMENTS (results)];
};

SbxCheckList *
sbx_check_list_new (SbxJsonMode json, gboolean color)
{
  static const char *const headings[] = { "CHECK", "RESULT", "TEXT", "FIX", NULL };
  SbxCheckList *self = g_new0 (SbxCheckList, 1);

  self->json = json;
  self->color = color;
  self->table = sbx_table_new (headings);
  return self;
}

void
sbx_check_list_free (SbxCheckList *self)
{
  sbx_table_free (self->table);
  g_free (self);
}

char *
sbx_check_line (SbxCheckResult result, const char *name, const char *text, const char *fix, gboolean color)
{
  const char *word = results[result].word;
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "%s%-8s%s  %-10s  %s\n", color ? results[result].color : "", word,
                          color ? "\033[0m" : "", name, text);
  if (fix != NULL)
    {
      g_auto (GStrv) lines = g_strsplit (fix, "\n", -1);

      for (guint i = 0; lines[i] != NULL; i++)
        g_string_append_printf (line, "%-22s%s%s\n", "", i == 0 ? "fix: " : "     ", lines[i]);
    }
  return g_string_free (line, FALSE);
}

void
sbx_check_list_add (SbxCheckList *self, SbxCheckResult result, const char *name, const char *fix,
                    const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  self->counts[result]++;
  sbx_table_add (self->table,
                 (const char *const[]){ name, results[result].word, text, fix != NULL ? fix : "", NULL });
  if (self->json == SBX_JSON_OFF)
    {
      g_autofree char *line = sbx_check_line (result, name, text, fix, self->color);

      g_print ("%s", line);
      (void) fflush (stdout);
    }
}

guint
sbx_check_list_count (const SbxCheckList *self, SbxCheckResult result)
{
  return self->counts[result];
}

char *
sbx_check_list_json (const SbxCheckList *self)
{
  return sbx_table_json (self->table, self->json);
}

const char *
sbx_check_key_fault (const struct stat *status, uid_t egress)
{
  if (!S_ISREG (status->st_mode))
    return "is no plain file";
  if (status->st_uid != egress && status->st_uid != 0)
    return "belongs to another user than sandbox-egress";
  if (status->st_uid == 0 && (status->st_mode & S_IRGRP) == 0)
    return "cannot be read by sandbox-egress";
  if ((status->st_mode & S_IRUSR) == 0)
    return "cannot be read by its owner";
  if ((status->st_mode & (S_IRWXO | S_IWGRP)) != 0)
    return "can be read or written by others";
  if (status->st_size < MIN_KEY_BYTES)
    return "is empty or too short for a key";
  if (status->st_size > MAX_KEY_BYTES)
    return "is too long for a key";
  return NULL;
}

/* The first number.number.number in the text; 0.0.0 where there is none. */
static void
read_version (const char *text, guint ret_numbers[3])
{
  g_autoptr (GRegex) regex = g_regex_new ("([0-9]{1,5})\\.([0-9]{1,5})(?:\\.([0-9]{1,5}))?", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  gboolean found = g_regex_match (regex, text, 0, &match);

  for (gint i = 0; i < 3; i++)
    {
      g_autofree char *number = found ? g_match_info_fetch (match, i + 1) : NULL;

      ret_numbers[i] = number != NULL ? (guint) g_ascii_strtoull (number, NULL, 10) : 0;
    }
}

gboolean
sbx_check_runc_is_fixed (const char *version)
{
  guint number[3];

  read_version (version, number);
  if (number[0] != 1)
    return number[0] > 1;
  switch (number[1])
    {
    case 0:
    case 1:
      return FALSE;
    case 2:
      return number[2] >= 8;
    case 3:
      return number[2] >= 3;
    default:
      return TRUE;
    }
}

gboolean
sbx_check_version_at_least (const char *version, guint major, guint minor)
{
  guint number[3];

  read_version (version, number);
  return number[0] > major || (number[0] == major && number[1] >= minor);
}

char *
sbx_check_mount_options (const char *mountinfo, guint major, guint minor)
{
  g_autofree char *device = g_strdup_printf ("%u:%u", major, minor);
  g_auto (GStrv) lines = g_strsplit (mountinfo, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], " ", -1);
      guint n_fields = g_strv_length (fields), dash = 0;

      if (n_fields < 10 || !g_str_equal (fields[2], device))
        continue;
      for (guint at = 6; at < n_fields && dash == 0; at++)
        dash = g_str_equal (fields[at], "-") ? at : 0;
      if (dash > 0 && dash + 3 < n_fields)
        return g_strconcat (fields[5], ",", fields[dash + 3], NULL);
    }
  return NULL;
}
