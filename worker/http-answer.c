/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "http-answer.h"

#include <string.h>

typedef struct {
  guint status;
  gboolean chunked;
  gint64 length; /* -1: not said */
  gsize n_head;  /* bytes of the head, empty line included */
} Head;

static gboolean
read_length (const char *value, gint64 *length)
{
  guint64 n;

  if (!g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT32, &n, NULL)
      || (*length >= 0 && *length != (gint64) n))
    return FALSE;
  *length = (gint64) n;
  return TRUE;
}

static gboolean
read_field (char *line, Head *head)
{
  char *colon = strchr (line, ':');

  if (colon == NULL)
    return FALSE;
  *colon = '\0';
  g_strstrip (colon + 1);
  if (g_ascii_strcasecmp (line, "content-length") == 0)
    return read_length (colon + 1, &head->length);
  if (g_ascii_strcasecmp (line, "transfer-encoding") == 0)
    {
      head->chunked = TRUE;
      return g_ascii_strcasecmp (colon + 1, "chunked") == 0;
    }
  return TRUE;
}

/* "HTTP/1.x NNN" and whatever reason. */
static gboolean
read_status (const char *line, guint *ret_status)
{
  if ((!g_str_has_prefix (line, "HTTP/1.1 ") && !g_str_has_prefix (line, "HTTP/1.0 ")) || strlen (line) < 12
      || !g_ascii_isdigit (line[9]) || !g_ascii_isdigit (line[10]) || !g_ascii_isdigit (line[11])
      || (line[12] != '\0' && line[12] != ' '))
    return FALSE;
  *ret_status = (guint) (line[9] - '0') * 100 + (guint) (line[10] - '0') * 10 + (guint) (line[11] - '0');
  return TRUE;
}

static gboolean
read_head (const GByteArray *data, Head *head)
{
  g_autofree char *text = g_strndup ((const char *) data->data, head->n_head - 4);
  g_auto (GStrv) lines = g_strsplit (text, "\r\n", -1);

  head->length = -1;
  if (lines[0] == NULL || !read_status (lines[0], &head->status))
    return FALSE;
  for (guint i = 1; lines[i] != NULL; i++)
    if (!read_field (lines[i], head))
      return FALSE;
  return TRUE;
}

/* The size line of a chunk at *at; moves behind it. */
static SbxHttpAnswerVerdict
read_chunk_size (const char **at, const char *end, gsize *ret_size)
{
  const char *line_end = memmem (*at, (gsize) (end - *at), "\r\n", 2);
  gsize size = 0;
  const char *digit;

  if (line_end == NULL)
    return end - *at > 256 ? SBX_HTTP_ANSWER_BAD : SBX_HTTP_ANSWER_MORE;
  for (digit = *at; digit < line_end && g_ascii_isxdigit (*digit); digit++)
    {
      if (size > G_MAXINT32)
        return SBX_HTTP_ANSWER_BAD;
      size = size * 16 + (gsize) g_ascii_xdigit_value (*digit);
    }
  if (digit == *at || (digit < line_end && *digit != ';' && *digit != ' '))
    return SBX_HTTP_ANSWER_BAD;
  *at = line_end + 2;
  *ret_size = size;
  return SBX_HTTP_ANSWER_DONE;
}

static SbxHttpAnswerVerdict
read_chunks (const char *at, const char *end, gsize max_bytes, GByteArray *body)
{
  for (;;)
    {
      gsize size;
      SbxHttpAnswerVerdict verdict = read_chunk_size (&at, end, &size);

      if (verdict != SBX_HTTP_ANSWER_DONE || size == 0) /* trailers are of no use to us */
        return verdict;
      if (body->len + size > max_bytes)
        return SBX_HTTP_ANSWER_BAD;
      if ((gsize) (end - at) < size + 2)
        return SBX_HTTP_ANSWER_MORE;
      if (at[size] != '\r' || at[size + 1] != '\n')
        return SBX_HTTP_ANSWER_BAD;
      g_byte_array_append (body, (const guint8 *) at, (guint) size);
      at += size + 2;
    }
}

static SbxHttpAnswerVerdict
read_body (const Head *head, const char *at, const char *end, gboolean at_end, gsize max_bytes,
           GByteArray *body)
{
  gsize have = (gsize) (end - at);

  if (head->chunked)
    return head->length >= 0 ? SBX_HTTP_ANSWER_BAD : read_chunks (at, end, max_bytes, body);
  if (head->status == 204 || head->status == 304)
    return SBX_HTTP_ANSWER_DONE;
  if (head->length > (gint64) max_bytes || (head->length < 0 && have > max_bytes))
    return SBX_HTTP_ANSWER_BAD;
  if (head->length >= 0 ? have < (gsize) head->length : !at_end)
    return SBX_HTTP_ANSWER_MORE;
  g_byte_array_append (body, (const guint8 *) at, (guint) (head->length >= 0 ? (gsize) head->length : have));
  return SBX_HTTP_ANSWER_DONE;
}

SbxHttpAnswerVerdict
sbx_http_answer_read (const GByteArray *data, gboolean at_end, gsize max_body_bytes, guint *ret_status,
                      GByteArray **ret_body)
{
  g_autoptr (GByteArray) body = g_byte_array_new ();
  const char *start;
  const char *end;
  Head head = { 0 };
  SbxHttpAnswerVerdict verdict;

  g_return_val_if_fail (data != NULL && ret_status != NULL && ret_body != NULL, SBX_HTTP_ANSWER_BAD);

  if (data->len == 0)
    return at_end ? SBX_HTTP_ANSWER_BAD : SBX_HTTP_ANSWER_MORE;
  start = (const char *) data->data;
  end = memmem (start, data->len, "\r\n\r\n", 4);
  if (end == NULL || end - start > (gssize) SBX_HTTP_ANSWER_MAX_HEAD_BYTES)
    return at_end || end != NULL || data->len > SBX_HTTP_ANSWER_MAX_HEAD_BYTES ? SBX_HTTP_ANSWER_BAD
                                                                               : SBX_HTTP_ANSWER_MORE;
  head.n_head = (gsize) (end - start) + 4;
  if (!read_head (data, &head))
    return SBX_HTTP_ANSWER_BAD;
  verdict = read_body (&head, start + head.n_head, start + data->len, at_end, max_body_bytes, body);
  if (verdict == SBX_HTTP_ANSWER_DONE)
    {
      *ret_status = head.status;
      *ret_body = g_steal_pointer (&body);
    }
  return verdict == SBX_HTTP_ANSWER_MORE && at_end ? SBX_HTTP_ANSWER_BAD : verdict;
}
