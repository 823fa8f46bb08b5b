/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/text.h"

static gboolean
is_noncharacter (gunichar character)
{
  return (character >= 0xfdd0 && character <= 0xfdef) || (character & 0xfffe) == 0xfffe;
}

static char *
text_copy (const char *text, gboolean one_line)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new (NULL);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar character = g_utf8_get_char (p);

      if (is_noncharacter (character))
        character = 0xfffd;
      else if (one_line && g_unichar_iscntrl (character))
        character = ' ';
      g_string_append_unichar (out, character);
    }
  return g_string_free (out, FALSE);
}

char *
sbx_text_plain (const char *text)
{
  return text_copy (text, FALSE);
}

char *
sbx_text_one_line (const char *text)
{
  return text_copy (text, TRUE);
}
