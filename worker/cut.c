/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "cut.h"

#include <string.h>

#include "base/json-gate.h"
#include "base/json-write.h"

/* What one character takes between the quotes. */
static gsize
escaped_bytes (const char *at, gsize n_bytes)
{
  guchar byte = (guchar) *at;

  if (byte == '"' || byte == '\\' || byte == '\b' || byte == '\t' || byte == '\n' || byte == '\f'
      || byte == '\r')
    return 2;
  if (n_bytes == 3 && memcmp (at, SBX_JSON_NUL, 3) == 0)
    return 6; /* written as an escaped NUL */
  return byte < 0x20 ? 6 : n_bytes;
}

char *
sbx_text_cut (const char *text, gsize budget_bytes)
{
  gsize marker_bytes = sbx_json_text_bytes (SBX_CUT_MARKER, -1);
  gsize used = 2;
  gsize room;
  const char *at;
  g_autofree char *beginning = NULL;

  g_return_val_if_fail (text != NULL, NULL);
  g_return_val_if_fail (budget_bytes >= marker_bytes, NULL);

  if (sbx_json_text_bytes (text, -1) <= budget_bytes)
    return g_strdup (text);

  /* Both counts hold the two quotes. */
  room = budget_bytes - marker_bytes + 2;
  for (at = text; *at != '\0'; at = g_utf8_next_char (at))
    {
      used += escaped_bytes (at, (gsize) (g_utf8_next_char (at) - at));
      if (used > room)
        break;
    }
  beginning = g_strndup (text, (gsize) (at - text));
  return g_strconcat (beginning, SBX_CUT_MARKER, NULL);
}

static gboolean
is_blank (gunichar c)
{
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a)
         || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

char *
sbx_text_trim (const char *text)
{
  const char *end;

  g_return_val_if_fail (text != NULL, NULL);

  while (*text != '\0' && is_blank (g_utf8_get_char (text)))
    text = g_utf8_next_char (text);
  end = text + strlen (text);
  while (end > text)
    {
      const char *before = g_utf8_prev_char (end);

      if (!is_blank (g_utf8_get_char (before)))
        break;
      end = before;
    }
  return g_strndup (text, (gsize) (end - text));
}

gboolean
sbx_text_is_blank (const char *text)
{
  g_return_val_if_fail (text != NULL, TRUE);

  while (*text != '\0' && is_blank (g_utf8_get_char (text)))
    text = g_utf8_next_char (text);
  return *text == '\0';
}
