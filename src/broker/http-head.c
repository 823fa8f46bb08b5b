/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/http-head.h"

#include <string.h>

#define VERSION "HTTP/1.1"
/* Longer lengths fit no body that is ever taken; 18 digits cannot overflow. */
#define MAX_LENGTH_DIGITS 18u

/* RFC 9110 5.6.2, tchar. */
static gboolean
is_token_byte (char c)
{
  return g_ascii_isalnum (c) || (c != '\0' && strchr ("!#$%&'*+-.^_`|~", c) != NULL);
}

static gboolean
is_token (SbxHttpText text)
{
  for (gsize i = 0; i < text.n_bytes; i++)
    if (!is_token_byte (text.data[i]))
      return FALSE;
  return text.n_bytes > 0;
}

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t';
}

gboolean
sbx_http_text_is (SbxHttpText text, const char *wanted)
{
  return text.n_bytes == strlen (wanted) && memcmp (text.data, wanted, text.n_bytes) == 0;
}

gboolean
sbx_http_text_is_caseless (SbxHttpText text, const char *wanted)
{
  return text.n_bytes == strlen (wanted) && g_ascii_strncasecmp (text.data, wanted, text.n_bytes) == 0;
}

SbxHttpVerdict
sbx_http_head_find (const char *data, gsize n_bytes, gsize *place)
{
  gsize limit = MIN (n_bytes, SBX_HTTP_MAX_HEAD_BYTES);

  for (gsize i = *place; i < limit; i++)
    {
      char c = data[i];
      char before = i > 0 ? data[i - 1] : '\0';

      *place = i + 1;
      /* A CR and a LF come in pairs only: what some readers take for a line end and others do not hides
       * fields.
       */
      if ((c == '\n') != (before == '\r'))
        return SBX_HTTP_HEAD_BAD;
      if (c == '\n' && i >= 3 && data[i - 2] == '\n')
        return SBX_HTTP_HEAD_WHOLE;
      if (c != '\r' && c != '\n' && c != '\t' && !g_ascii_isprint (c))
        return SBX_HTTP_HEAD_BAD;
    }
  return n_bytes > SBX_HTTP_MAX_HEAD_BYTES ? SBX_HTTP_HEAD_TOO_LARGE : SBX_HTTP_HEAD_MORE;
}

/* The next line without its end, and the rest behind it. The head is known to end with an empty line. */
static SbxHttpText
take_line (SbxHttpText *rest)
{
  const char *end = memchr (rest->data, '\r', rest->n_bytes);
  SbxHttpText line = { rest->data, end != NULL ? (gsize) (end - rest->data) : rest->n_bytes };
  gsize taken = MIN (line.n_bytes + 2, rest->n_bytes);

  rest->data += taken;
  rest->n_bytes -= taken;
  return line;
}

/* What stands before the first separator, which is taken off with it. FALSE where there is none. */
static gboolean
take_until (SbxHttpText *rest, char separator, SbxHttpText *ret_taken)
{
  const char *end = memchr (rest->data, separator, rest->n_bytes);

  if (end == NULL)
    return FALSE;
  *ret_taken = (SbxHttpText){ rest->data, (gsize) (end - rest->data) };
  rest->n_bytes -= ret_taken->n_bytes + 1;
  rest->data = end + 1;
  return TRUE;
}

static gboolean
parse_request_line (SbxHttpText line, SbxHttpHead *head)
{
  if (!take_until (&line, ' ', &head->method) || !is_token (head->method))
    return FALSE;
  if (!take_until (&line, ' ', &head->target) || head->target.n_bytes == 0 || head->target.data[0] != '/')
    return FALSE;
  if (memchr (head->target.data, '\t', head->target.n_bytes) != NULL)
    return FALSE;
  return sbx_http_text_is (line, VERSION);
}

static gboolean
parse_field (SbxHttpText line, SbxHttpField *ret_field)
{
  SbxHttpField field;

  /* A line that goes on the one before it (a fold) begins with a blank, which no name does. */
  if (!take_until (&line, ':', &field.name) || !is_token (field.name))
    return FALSE;
  while (line.n_bytes > 0 && is_blank (line.data[0]))
    line = (SbxHttpText){ line.data + 1, line.n_bytes - 1 };
  while (line.n_bytes > 0 && is_blank (line.data[line.n_bytes - 1]))
    line.n_bytes--;
  field.value = line;
  *ret_field = field;
  return TRUE;
}

static gboolean
has_field (const SbxHttpHead *head, SbxHttpText name)
{
  for (guint i = 0; i < head->n_fields; i++)
    if (head->fields[i].name.n_bytes == name.n_bytes
        && g_ascii_strncasecmp (head->fields[i].name.data, name.data, name.n_bytes) == 0)
      return TRUE;
  return FALSE;
}

/* Says where a request ends or whom it is for: of two, nobody knows which counts. */
static gboolean
is_framing (SbxHttpText name)
{
  return sbx_http_text_is_caseless (name, "host") || sbx_http_text_is_caseless (name, "content-length")
         || sbx_http_text_is_caseless (name, "transfer-encoding");
}

/* RFC 9112 6.2: digits, nothing else; no second spelling of a number either. */
static gboolean
parse_length (SbxHttpText text, guint64 *ret_length)
{
  guint64 length = 0;

  if (text.n_bytes == 0 || text.n_bytes > MAX_LENGTH_DIGITS || (text.n_bytes > 1 && text.data[0] == '0'))
    return FALSE;
  for (gsize i = 0; i < text.n_bytes; i++)
    {
      if (!g_ascii_isdigit (text.data[i]))
        return FALSE;
      length = length * 10 + (guint64) (text.data[i] - '0');
    }
  *ret_length = length;
  return TRUE;
}

/* What must hold between fields. */
static gboolean
check_framing (SbxHttpHead *head)
{
  const SbxHttpField *length = sbx_http_head_field (head, "content-length");

  if (sbx_http_head_field (head, "host") == NULL)
    return FALSE;
  if (length == NULL)
    return TRUE;
  return sbx_http_head_field (head, "transfer-encoding") == NULL
         && parse_length (length->value, &head->content_length);
}

SbxHttpVerdict
sbx_http_head_parse (const char *data, gsize n_bytes, SbxHttpHead *ret_head)
{
  SbxHttpText rest = { data, n_bytes };
  SbxHttpText line = take_line (&rest);

  ret_head->n_fields = 0;
  ret_head->field_repeated = FALSE;
  ret_head->content_length = 0;
  if (!parse_request_line (line, ret_head))
    return SBX_HTTP_HEAD_BAD;
  while ((line = take_line (&rest)).n_bytes > 0)
    {
      SbxHttpField field;
      gboolean repeated;

      if (!parse_field (line, &field))
        return SBX_HTTP_HEAD_BAD;
      repeated = has_field (ret_head, field.name);
      if (repeated && is_framing (field.name))
        return SBX_HTTP_HEAD_BAD;
      ret_head->field_repeated |= repeated;
      if (ret_head->n_fields == SBX_HTTP_MAX_FIELDS)
        return SBX_HTTP_HEAD_TOO_LARGE;
      ret_head->fields[ret_head->n_fields++] = field;
    }
  return check_framing (ret_head) ? SBX_HTTP_HEAD_WHOLE : SBX_HTTP_HEAD_BAD;
}

const SbxHttpField *
sbx_http_head_field (const SbxHttpHead *head, const char *name)
{
  for (guint i = 0; i < head->n_fields; i++)
    if (sbx_http_text_is_caseless (head->fields[i].name, name))
      return &head->fields[i];
  return NULL;
}
