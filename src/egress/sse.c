/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/sse.h"

#include <string.h>

struct _SbxSse {
  SbxSseEvent event;
  gpointer user_data;
  GString *line;
  GString *data;
  gboolean has_data;
  gboolean after_cr; /* a LF now belongs to the line before */
  gboolean at_start; /* nothing of the stream's first line is judged yet: a byte order mark may stand there */
  gboolean stopped;
};

SbxSse *
sbx_sse_new (SbxSseEvent event, gpointer user_data)
{
  SbxSse *self = g_new0 (SbxSse, 1);

  self->event = event;
  self->user_data = user_data;
  self->line = g_string_new (NULL);
  self->data = g_string_new (NULL);
  self->at_start = TRUE;
  return self;
}

void
sbx_sse_free (SbxSse *self)
{
  if (self == NULL)
    return;
  g_string_free (self->line, TRUE);
  g_string_free (self->data, TRUE);
  g_free (self);
}

static void
end_event (SbxSse *self)
{
  /* "data" lines that are all empty are a priming event. */
  if (self->has_data && self->data->len > 0)
    self->stopped = !self->event (self->data->str, self->data->len, self->user_data);
  g_string_truncate (self->data, 0);
  self->has_data = FALSE;
}

static void
end_line (SbxSse *self)
{
  const char *line = self->line->str;
  gsize n_bytes = self->line->len;

  if (self->at_start && n_bytes >= 3 && memcmp (line, "\xef\xbb\xbf", 3) == 0)
    {
      line += 3;
      n_bytes -= 3;
    }
  self->at_start = FALSE;
  if (n_bytes == 0)
    end_event (self);
  else if (n_bytes >= 4 && memcmp (line, "data", 4) == 0 && (n_bytes == 4 || line[4] == ':'))
    {
      gsize skip = n_bytes == 4 ? 4 : n_bytes > 5 && line[5] == ' ' ? 6 : 5;

      if (self->has_data)
        g_string_append_c (self->data, '\n');
      g_string_append_len (self->data, line + skip, (gssize) (n_bytes - skip));
      self->has_data = TRUE;
    }
  g_string_truncate (self->line, 0);
}

gboolean
sbx_sse_feed (SbxSse *self, const char *data, gsize n_bytes)
{
  for (gsize i = 0; i < n_bytes && !self->stopped; i++)
    {
      gboolean after_cr = self->after_cr;

      self->after_cr = data[i] == '\r';
      if (data[i] == '\r' || (data[i] == '\n' && !after_cr))
        end_line (self);
      else if (data[i] != '\n')
        g_string_append_c (self->line, data[i]);
    }
  return !self->stopped;
}
