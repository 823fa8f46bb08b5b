/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/fence.h"

#include <string.h>

gboolean
sbx_fence_is_blank (const char *text, gsize bytes)
{
  for (const char *p = text; p < text + bytes; p = g_utf8_next_char (p))
    if (!g_unichar_isspace (g_utf8_get_char (p)))
      return FALSE;
  return TRUE;
}

gboolean
sbx_fence_read (const char *line, gsize bytes, SbxFence *ret_fence)
{
  gsize indent = 0;
  gsize end;

  while (indent < bytes && indent < 4 && line[indent] == ' ')
    indent++;
  if (indent > 3 || indent == bytes || (line[indent] != '`' && line[indent] != '~'))
    return FALSE;
  for (end = indent; end < bytes && line[end] == line[indent]; end++)
    ;
  if (end - indent < SBX_MIN_FENCE || end - indent > SBX_MAX_FENCE
      || (line[indent] == '`' && memchr (line + end, '`', bytes - end) != NULL))
    return FALSE;
  *ret_fence =
    (SbxFence){ line[indent], (guint) (end - indent), sbx_fence_is_blank (line + end, bytes - end) };
  return TRUE;
}

gboolean
sbx_fence_closes (const SbxFence *self, const SbxFence *opening)
{
  return self->bare && self->character == opening->character && self->length >= opening->length;
}

const char *
sbx_fence_line_end (const char *line)
{
  const char *end = strchr (line, '\n');

  return end != NULL ? end : line + strlen (line);
}
