/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/text.h"

#define MAX_SHOWN 64u /* characters */

static gboolean
is_noncharacter (gunichar character)
{
  return (character >= 0xfdd0 && character <= 0xfdef) || (character & 0xfffe) == 0xfffe;
}

typedef enum {
  CONTROLS_STAY,
  CONTROLS_BUT_LINES_GO, /* all but line ends and tabs */
  CONTROLS_ARE_BLANKS,
} Controls;

static gunichar
control (gunichar character, Controls controls)
{
  switch (controls)
    {
    case CONTROLS_BUT_LINES_GO:
      return character == '\n' || character == '\t' ? character : 0xfffd;
    case CONTROLS_ARE_BLANKS:
      return ' ';
    case CONTROLS_STAY:
    default:
      return character;
    }
}

static char *
text_copy (const char *text, Controls controls)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new (NULL);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar character = g_utf8_get_char (p);

      if (is_noncharacter (character))
        character = 0xfffd;
      else if (g_unichar_iscntrl (character))
        character = control (character, controls);
      g_string_append_unichar (out, character);
    }
  return g_string_free (out, FALSE);
}

char *
sbx_text_plain (const char *text)
{
  return text_copy (text, CONTROLS_STAY);
}

char *
sbx_text_one_line (const char *text)
{
  return text_copy (text, CONTROLS_ARE_BLANKS);
}

char *
sbx_text_terminal (const char *text)
{
  return text_copy (text, CONTROLS_BUT_LINES_GO);
}

static gboolean
is_quotation_mark (gunichar character)
{
  return character == '"' || character == '\'' || character == '`'
         || g_unichar_type (character) == G_UNICODE_INITIAL_PUNCTUATION
         || g_unichar_type (character) == G_UNICODE_FINAL_PUNCTUATION;
}

char *
sbx_text_shown (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new (NULL);
  guint n = 0;

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar character = g_utf8_get_char (p);

      if (n++ == MAX_SHOWN)
        {
          g_string_append (out, "\xe2\x80\xa6");
          break;
        }
      /* What turns writing around is a format character, and not printed. */
      if (!g_unichar_isprint (character) || is_quotation_mark (character))
        character = '?';
      g_string_append_unichar (out, character);
    }
  return g_string_free (out, FALSE);
}
