/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/defang.h"

#include <string.h>

#include "daemon/fence.h"

/* --- reading, piece by piece --- */

typedef enum {
  PIECE_CHARACTER,
  PIECE_VERBATIM, /* code, an escaped character, a run of backticks, <URL> */
  PIECE_URL,      /* one that a chat program would open */
} PieceKind;

typedef struct {
  const char *at;
  gboolean line_begins;
  gboolean trusts_code; /* no backtick without a partner yet */
  gboolean has_table;
  /* Of Discord's autolinks; NULL before the first: the end of a scheme, the end of what follows, and how far
   * none holds a backtick. */
  const char *colon;
  const char *stop;
  const char *clear_until;
} Reader;

/* Whether a line is one that makes a table of those around it (GitHub Flavored Markdown 0.29, 4.10). */
static gboolean
is_delimiter_row (const char *line, gsize bytes)
{
  return bytes > 0 && strspn (line, " \t|:-") >= bytes && memchr (line, '|', bytes) != NULL
         && memchr (line, '-', bytes) != NULL;
}

static void
start_reading (Reader *self, const char *text)
{
  *self = (Reader){ .at = text, .line_begins = TRUE, .trusts_code = TRUE };
  for (const char *line = text;;)
    {
      const char *end = sbx_fence_line_end (line);

      self->has_table = self->has_table || is_delimiter_row (line, (gsize) (end - line));
      if (*end == '\0')
        return;
      line = end + 1;
    }
}

static gsize
scheme_bytes (const char *text)
{
  static const char *const schemes[] = { "https://", "http://", "ftp://" };

  for (gsize i = 0; i < G_N_ELEMENTS (schemes); i++)
    if (g_ascii_strncasecmp (text, schemes[i], strlen (schemes[i])) == 0)
      return strlen (schemes[i]);
  return 0;
}

static gboolean
ends_url (const char *p)
{
  return *p == '\0' || strchr ("<>`\"[]{}|\\^", *p) != NULL || g_unichar_isspace (g_utf8_get_char (p))
         || g_unichar_iscntrl (g_utf8_get_char (p));
}

/* 0 where none begins at text. What stands around it in a sentence is not of it. */
static gsize
url_bytes (const char *text)
{
  gsize scheme = scheme_bytes (text);
  const char *p = text + scheme;
  guint depth = 0;

  if (scheme == 0)
    return 0;
  for (; !ends_url (p); p = g_utf8_next_char (p))
    {
      if (*p == '(')
        depth++;
      else if (*p == ')' && depth-- == 0)
        break;
    }
  while (p > text + scheme && strchr (".,;:!?'*_~", p[-1]) != NULL)
    p--;
  return p > text + scheme ? (gsize) (p - text) : 0;
}

/* Of <URL>, brackets included; 0 where text is none. */
static gsize
bracketed_bytes (const char *text)
{
  gsize scheme = *text == '<' ? scheme_bytes (text + 1) : 0;
  const char *p = text + 1 + scheme;

  if (scheme == 0)
    return 0;
  while (*p != '\0' && strchr ("<>`", *p) == NULL && !g_unichar_isspace (g_utf8_get_char (p)))
    p = g_utf8_next_char (p);
  return *p == '>' && p > text + 1 + scheme ? (gsize) (p + 1 - text) : 0;
}

/* Discord takes anything of the form <x:/y> for a link, over line ends too, and with the backticks in it.
 * Each text is looked at once, however many brackets it has. */
static gboolean
swallows_code (Reader *self)
{
  if (self->clear_until != NULL && self->at < self->clear_until)
    return FALSE;
  if (self->colon == NULL || self->colon < self->at)
    self->colon = self->at + strcspn (self->at, ": >");
  if (!g_str_has_prefix (self->colon, ":/"))
    return FALSE;
  if (self->stop == NULL || self->stop < self->colon + 2)
    self->stop = self->colon + 2 + strcspn (self->colon + 2, " >");
  if (*self->stop != '>')
    return FALSE;
  if (memchr (self->at, '`', (gsize) (self->stop - self->at)) != NULL)
    return TRUE;
  self->clear_until = self->stop;
  return FALSE;
}

/* Of a fenced block that everybody takes for one, without its last line end; 0 for any other. */
static gsize
block_bytes (const char *text)
{
  const char *end = sbx_fence_line_end (text);
  gboolean has_text = FALSE;
  SbxFence opening, fence;

  if (!sbx_fence_read (text, (gsize) (end - text), &opening) || opening.character != '`'
      || opening.length != SBX_MIN_FENCE)
    return 0;
  while (*end != '\0')
    {
      const char *line = end + 1;
      gsize bytes;

      end = sbx_fence_line_end (line);
      bytes = (gsize) (end - line);
      if (sbx_fence_read (line, bytes, &fence) && sbx_fence_closes (&fence, &opening))
        return fence.length == SBX_MIN_FENCE && has_text ? (gsize) (end - text) : 0;
      if (g_strstr_len (line, (gssize) bytes, "```") != NULL)
        return 0;
      has_text = has_text || !sbx_fence_is_blank (line, bytes);
    }
  return 0;
}

/* Of a code span on one line, run being the length of its opening one; 0 where it has no partner. */
static gsize
span_bytes (const char *text, gsize run)
{
  const char *p = text + run;

  if (run > SBX_MIN_FENCE)
    return 0;
  while (*p != '\0' && *p != '\n')
    {
      gsize other = strspn (p, "`");

      if (other == run)
        return (gsize) (p + run - text);
      /* Three end what three began, for some, whatever follows. */
      if (other > run && run == SBX_MIN_FENCE)
        return 0;
      p += MAX (other, 1);
    }
  return 0;
}

static gsize
backticks_bytes (Reader *self)
{
  gsize run = strspn (self->at, "`");
  gsize span = self->trusts_code ? span_bytes (self->at, run) : 0;

  /* In a table a bar ends the cell, and the code with it. */
  if (span > 0 && !(self->has_table && memchr (self->at, '|', span) != NULL))
    return span;
  self->trusts_code = FALSE;
  return run;
}

/* The piece at the reader's place, of so many bytes. Not at the text's end. */
static gsize
read_piece (Reader *self, PieceKind *ret_kind)
{
  gsize bytes = 0;
  const char *fence = self->at + strspn (self->at, " ");

  *ret_kind = PIECE_VERBATIM;
  if (self->line_begins && fence - self->at <= 3 && g_str_has_prefix (fence, "```") && self->trusts_code
      && (bytes = block_bytes (self->at)) > 0)
    return bytes;
  if (*self->at == '`')
    return backticks_bytes (self);
  if (*self->at == '\\' && g_ascii_ispunct (self->at[1]))
    return 2;
  if ((bytes = bracketed_bytes (self->at)) > 0)
    return bytes;
  if (*self->at == '<' && self->trusts_code && swallows_code (self))
    self->trusts_code = FALSE;
  *ret_kind = PIECE_URL;
  if ((bytes = url_bytes (self->at)) > 0)
    return bytes;
  *ret_kind = PIECE_CHARACTER;
  return (gsize) (g_utf8_next_char (self->at) - self->at);
}

static void
advance (Reader *self, gsize bytes)
{
  self->at += bytes;
  self->line_begins = self->at[-1] == '\n';
}

/* --- writing --- */

char *
sbx_defang (const char *text)
{
  GString *out = g_string_new (NULL);
  gboolean after_backslash = FALSE;
  Reader reader;

  start_reading (&reader, text);
  while (*reader.at != '\0')
    {
      PieceKind kind;
      gsize bytes = read_piece (&reader, &kind);
      const char *at = reader.at;

      /* It would escape our bracket. */
      if (kind == PIECE_URL && after_backslash)
        g_string_append_c (out, ' ');
      if (kind == PIECE_URL)
        g_string_append_c (out, '<');
      g_string_append_len (out, at, (gssize) bytes);
      if (kind == PIECE_URL)
        g_string_append_c (out, '>');
      else if (kind == PIECE_CHARACTER && ((*at == '!' && at[1] == '[') || (*at == ']' && at[1] == '(')))
        g_string_append_c (out, ' ');
      after_backslash = kind == PIECE_CHARACTER && *at == '\\';
      advance (&reader, bytes);
    }
  return g_string_free (out, FALSE);
}

/* http, https, ftp: hxxp, hxxps, fxp. */
static void
kill_scheme (char *scheme)
{
  for (; *scheme != ':'; scheme++)
    if (*scheme == 't' || *scheme == 'T')
      *scheme = 'x';
}

void
sbx_defang_part (char *part)
{
  Reader reader;

  start_reading (&reader, part);
  while (*reader.at != '\0')
    {
      PieceKind kind;
      gsize bytes = read_piece (&reader, &kind);

      /* A URL may have another in it, which would be the next to live. */
      for (gsize i = 0; kind == PIECE_URL && i < bytes; i++)
        if (scheme_bytes (reader.at + i) > 0)
          kill_scheme (part + (reader.at - part) + i);
      advance (&reader, bytes);
    }
}
