/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/http-answer.h"

#include <string.h>

typedef enum {
  STATE_LINE, /* status line, headers, chunk sizes, trailers: what `line` below is collected for */
  STATE_DATA,
  STATE_TO_END,
  STATE_DONE,
  STATE_BAD,
} State;

typedef enum {
  LINE_STATUS,
  LINE_HEADER,
  LINE_CHUNK_SIZE,
  LINE_CHUNK_END,
  LINE_TRAILER,
} LineKind;

struct _SbxHttpAnswer {
  State state;
  LineKind kind;
  GString *line;
  gsize head_bytes; /* lines taken since the last data */
  guint status;
  gboolean chunked;
  gboolean has_length;
  gboolean closes; /* the peer ends the connection behind it */
  guint64 length;
  guint64 data_left;
  GByteArray *body;
  gsize max_body;
};

SbxHttpAnswer *
sbx_http_answer_new (gsize max_body)
{
  SbxHttpAnswer *self = g_new0 (SbxHttpAnswer, 1);

  self->line = g_string_new (NULL);
  self->body = g_byte_array_new ();
  self->max_body = max_body;
  return self;
}

void
sbx_http_answer_free (SbxHttpAnswer *self)
{
  if (self == NULL)
    return;
  g_string_free (self->line, TRUE);
  g_clear_pointer (&self->body, g_byte_array_unref);
  g_free (self);
}

static State
take_status (SbxHttpAnswer *self, const char *line)
{
  guint64 status = 0;
  g_autofree char *digits = NULL;

  if (!g_str_has_prefix (line, "HTTP/1.") || strlen (line) < 12 || line[8] != ' ')
    return STATE_BAD;
  digits = g_strndup (line + 9, 3);
  if (!g_ascii_string_to_unsigned (digits, 10, 100, 599, &status, NULL))
    return STATE_BAD;
  self->status = (guint) status;
  self->chunked = self->has_length = FALSE;
  self->closes = line[7] != '1';
  self->kind = LINE_HEADER;
  return STATE_LINE;
}

static State
take_header (SbxHttpAnswer *self, const char *line)
{
  const char *colon = strchr (line, ':');
  g_autofree char *value = NULL;

  if (colon == NULL || colon == line)
    return STATE_BAD;
  value = g_strstrip (g_strdup (colon + 1));
  if (g_ascii_strncasecmp (line, "content-length:", 15) == 0)
    {
      if (!g_ascii_string_to_unsigned (value, 10, 0, G_MAXUINT32, &self->length, NULL))
        return STATE_BAD;
      self->has_length = TRUE;
    }
  else if (g_ascii_strncasecmp (line, "transfer-encoding:", 18) == 0)
    {
      if (g_ascii_strcasecmp (value, "chunked") != 0)
        return STATE_BAD;
      self->chunked = TRUE;
    }
  else if (g_ascii_strncasecmp (line, "connection:", 11) == 0 && g_ascii_strcasecmp (value, "close") == 0)
    self->closes = TRUE;
  return STATE_LINE;
}

static State
take_head_end (SbxHttpAnswer *self)
{
  if (self->status == 101)
    return STATE_DONE;
  if (self->status < 200)
    {
      self->kind = LINE_STATUS;
      return STATE_LINE;
    }
  if (self->status == 204 || self->status == 304)
    return STATE_DONE;
  if (self->chunked)
    {
      self->kind = LINE_CHUNK_SIZE;
      return STATE_LINE;
    }
  if (!self->has_length)
    {
      self->closes = TRUE;
      return STATE_TO_END;
    }
  if (self->length > self->max_body)
    return STATE_BAD;
  self->data_left = self->length;
  return self->data_left == 0 ? STATE_DONE : STATE_DATA;
}

static State
take_chunk_size (SbxHttpAnswer *self, const char *line)
{
  g_autofree char *digits = g_strndup (line, strcspn (line, "; \t"));
  guint64 size = 0;

  if (!g_ascii_string_to_unsigned (digits, 16, 0, G_MAXUINT32, &size, NULL))
    return STATE_BAD;
  if (size == 0)
    {
      self->kind = LINE_TRAILER;
      return STATE_LINE;
    }
  if (size > self->max_body - self->body->len)
    return STATE_BAD;
  self->data_left = size;
  return STATE_DATA;
}

static State
take_line (SbxHttpAnswer *self, const char *line)
{
  switch (self->kind)
    {
    case LINE_STATUS:
      return take_status (self, line);
    case LINE_HEADER:
      return *line == '\0' ? take_head_end (self) : take_header (self, line);
    case LINE_CHUNK_SIZE:
      return take_chunk_size (self, line);
    case LINE_CHUNK_END:
      self->kind = LINE_CHUNK_SIZE;
      return *line == '\0' ? STATE_LINE : STATE_BAD;
    case LINE_TRAILER:
      return *line == '\0' ? STATE_DONE : STATE_LINE;
    default:
      g_return_val_if_reached (STATE_BAD);
    }
}

/* Takes up to the end of a line; returns how many bytes. */
static gsize
feed_line (SbxHttpAnswer *self, const char *data, gsize n_bytes)
{
  const char *end = memchr (data, '\n', n_bytes);
  gsize used = end != NULL ? (gsize) (end - data) + 1 : n_bytes;

  self->head_bytes += used;
  if (self->head_bytes > SBX_HTTP_MAX_HEAD || memchr (data, '\0', used) != NULL)
    {
      self->state = STATE_BAD;
      return used;
    }
  g_string_append_len (self->line, data, (gssize) used);
  if (end == NULL)
    return used;

  g_string_truncate (self->line, self->line->len - 1);
  if (self->line->len > 0 && self->line->str[self->line->len - 1] == '\r')
    g_string_truncate (self->line, self->line->len - 1);
  self->state = take_line (self, self->line->str);
  g_string_truncate (self->line, 0);
  return used;
}

static gsize
feed_data (SbxHttpAnswer *self, const char *data, gsize n_bytes)
{
  gsize used = (gsize) MIN ((guint64) n_bytes, self->data_left);

  self->head_bytes = 0;
  g_byte_array_append (self->body, (const guint8 *) data, (guint) used);
  self->data_left -= used;
  if (self->data_left > 0)
    return used;
  self->kind = LINE_CHUNK_END;
  self->state = self->chunked ? STATE_LINE : STATE_DONE;
  return used;
}

static gsize
feed_to_end (SbxHttpAnswer *self, const char *data, gsize n_bytes)
{
  if (n_bytes > self->max_body - self->body->len)
    self->state = STATE_BAD;
  else
    g_byte_array_append (self->body, (const guint8 *) data, (guint) n_bytes);
  return n_bytes;
}

static SbxHttpVerdict
verdict (SbxHttpAnswer *self)
{
  if (self->state == STATE_BAD)
    return SBX_HTTP_BAD;
  return self->state == STATE_DONE ? SBX_HTTP_DONE : SBX_HTTP_MORE;
}

SbxHttpVerdict
sbx_http_answer_feed (SbxHttpAnswer *self, const char *data, gsize n_bytes, gsize *ret_used)
{
  gsize used = 0;

  while (used < n_bytes && verdict (self) == SBX_HTTP_MORE)
    {
      const char *rest = data + used;
      gsize n_rest = n_bytes - used;

      if (self->state == STATE_LINE)
        used += feed_line (self, rest, n_rest);
      else if (self->state == STATE_DATA)
        used += feed_data (self, rest, n_rest);
      else
        used += feed_to_end (self, rest, n_rest);
    }
  *ret_used = used;
  return verdict (self);
}

SbxHttpVerdict
sbx_http_answer_end (SbxHttpAnswer *self)
{
  self->state = self->state == STATE_TO_END || self->state == STATE_DONE ? STATE_DONE : STATE_BAD;
  return verdict (self);
}

gboolean
sbx_http_answer_keeps_connection (SbxHttpAnswer *self)
{
  return self->state == STATE_DONE && self->status != 101 && !self->closes;
}

guint
sbx_http_answer_status (SbxHttpAnswer *self)
{
  return self->status;
}

GBytes *
sbx_http_answer_steal_body (SbxHttpAnswer *self)
{
  GBytes *body = g_byte_array_free_to_bytes (g_steal_pointer (&self->body));

  self->body = g_byte_array_new ();
  return body;
}
