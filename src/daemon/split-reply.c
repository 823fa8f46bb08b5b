/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/split-reply.h"

#include <string.h>

#include "base/utf16.h"
#include "daemon/fence.h"

typedef struct {
  guint max_units;
  GPtrArray *parts;
  GString *part;
  guint units;
  gboolean has_text; /* more than a fence that was opened again */
  char fence;        /* '`' or '~' inside a code block, else NUL */
  guint fence_length;
  char *opener;             /* the line that opens the block again, without its end */
  gboolean block_is_empty;  /* nothing of the block stands in this part but its opener */
  gsize opener_at;          /* where that is */
  gboolean opener_was_said; /* in an earlier part */
} Split;

static guint
units_of (const char *text, gsize bytes)
{
  return (guint) sbx_utf16_units_of (text, bytes);
}

static gboolean
closes (const Split *self, const SbxFence *fence)
{
  const SbxFence opening = { .character = self->fence, .length = self->fence_length };

  return sbx_fence_closes (fence, &opening);
}

/* What must stay free for closing the block: a line end and the fence. */
static guint
reserve (const Split *self)
{
  return self->fence != '\0' ? 1 + self->fence_length : 0;
}

static void
put (Split *self, const char *text, gsize bytes)
{
  g_string_append_len (self->part, text, (gssize) bytes);
  self->units += units_of (text, bytes);
}

static void
end_block_text (Split *self)
{
  if (self->part->len > 0 && self->part->str[self->part->len - 1] != '\n')
    put (self, "\n", 1);
  for (guint i = 0; i < self->fence_length; i++)
    put (self, &self->fence, 1);
}

/* Ends the part and begins the next one, inside the same code block where there is one. An opener with
 * nothing behind it goes to the next part, which says it anyway. */
static void
flush (Split *self)
{
  if (self->has_text)
    {
      if (self->fence != '\0' && self->block_is_empty)
        g_string_truncate (self->part, self->opener_at);
      else if (self->fence != '\0')
        {
          end_block_text (self);
          self->opener_was_said = TRUE;
        }
      while (self->part->len > 0 && strchr (" \t\r\n", self->part->str[self->part->len - 1]) != NULL)
        g_string_truncate (self->part, self->part->len - 1);
      if (self->part->len > 0)
        g_ptr_array_add (self->parts, g_strdup (self->part->str));
    }
  g_string_truncate (self->part, 0);
  self->units = 0;
  self->has_text = FALSE;
  if (self->fence != '\0')
    {
      self->opener_at = 0;
      self->block_is_empty = TRUE;
      put (self, self->opener, strlen (self->opener));
      put (self, "\n", 1);
    }
}

static gboolean
fits (const Split *self, guint units)
{
  return self->units + units + reserve (self) <= self->max_units;
}

/* Without counting what is too long anyway, again and again as it is cut: no unit has more than three bytes.
 */
static gboolean
text_fits (const Split *self, const char *text, gsize bytes)
{
  return bytes <= (gsize) self->max_units * 3 && fits (self, units_of (text, bytes));
}

static gboolean
joins (gunichar before, gunichar after)
{
  const gunichar joiner = 0x200d;

  return g_unichar_ismark (after) || after == joiner || before == joiner
         || (after >= 0x1f3fb && after <= 0x1f3ff); /* skin tones */
}

/* Where a text that is too long is cut: the number of its bytes that fit into `room` units, behind a blank
 * where there is one. At least one character. */
static gsize
find_cut (const char *text, gsize bytes, guint room, gboolean at_blanks)
{
  const char *end = text + bytes;
  const char *hard = NULL, *soft = NULL;
  const char *p = text;
  guint units = 0;

  while (p < end)
    {
      const char *next = g_utf8_next_char (p);

      units += units_of (p, (gsize) (next - p));
      if (units > room)
        {
          if (at_blanks && p > text && g_unichar_isspace (g_utf8_get_char (p)))
            soft = p;
          break;
        }
      if (at_blanks && g_unichar_isspace (g_utf8_get_char (p)))
        soft = next;
      if (next >= end || !joins (g_utf8_get_char (p), g_utf8_get_char (next)))
        hard = next;
      p = next;
    }
  if (p >= end)
    return bytes;
  /* A blank in the first half would leave a very short part. */
  if (soft != NULL && units_of (text, (gsize) (soft - text)) * 2 >= room)
    return (gsize) (soft - text);
  if (hard != NULL)
    return (gsize) (hard - text);
  return p > text ? (gsize) (p - text) : (gsize) (g_utf8_next_char (text) - text);
}

/* How much of a line goes into this part: all of it, or what find_cut() says. */
static gsize
piece_bytes (const Split *self, const char *text, gsize bytes)
{
  if (text_fits (self, text, bytes))
    return bytes;
  return find_cut (text, bytes, self->max_units - self->units - reserve (self), self->fence == '\0');
}

/* Whether a piece of a line that was no fence would be read as one where it now stands. */
static gboolean
is_misread (const Split *self, const char *text, gsize bytes)
{
  gboolean begins_line = self->part->len == 0 || self->part->str[self->part->len - 1] == '\n';
  SbxFence fence;

  return begins_line && sbx_fence_read (text, bytes, &fence)
         && (self->fence == '\0' || closes (self, &fence));
}

static void
put_text (Split *self, const char *text, gsize bytes)
{
  if (!text_fits (self, text, bytes) && self->has_text)
    flush (self);
  for (;;)
    {
      gsize piece = piece_bytes (self, text, bytes);

      if (is_misread (self, text, piece))
        {
          put (self, "    ", 4); /* no fence is indented so far */
          piece = piece_bytes (self, text, bytes);
        }
      if (piece == bytes)
        break;
      put (self, text, piece);
      self->has_text = TRUE;
      self->block_is_empty = FALSE;
      flush (self);
      text += piece;
      bytes -= piece;
      while (self->fence == '\0' && bytes > 0 && *text == ' ')
        {
          text++;
          bytes--;
        }
    }
  /* A part does not begin with what parted it from the one before. */
  if (self->fence == '\0' && self->part->len == 0 && sbx_fence_is_blank (text, bytes))
    return;
  put (self, text, bytes);
  if (!sbx_fence_is_blank (text, bytes))
    {
      self->has_text = TRUE;
      self->block_is_empty = FALSE;
    }
}

/* The units of a whole code block that begins at line, or more than max_units where it does not fit anyway.
 */
static guint
block_units (const Split *self, const char *line, const SbxFence *opening)
{
  const char *end = sbx_fence_line_end (line);
  guint units = units_of (line, (gsize) (end - line));
  SbxFence fence;

  while (*end != '\0' && units <= self->max_units)
    {
      const char *next = end + 1;

      end = sbx_fence_line_end (next);
      units += 1 + units_of (next, (gsize) (end - next));
      if (sbx_fence_read (next, (gsize) (end - next), &fence) && sbx_fence_closes (&fence, opening))
        return units;
    }
  /* Never closed in the text: we shall close it. */
  return units + 1 + opening->length;
}

static void
open_block (Split *self, const char *line, gsize bytes, const SbxFence *fence)
{
  guint units = units_of (line, bytes);
  guint whole = block_units (self, line, fence);
  g_autofree char *marks = g_strnfill (fence->length, fence->character);
  gboolean long_name = units > self->max_units / 4;
  const char *rest;

  if (self->units + whole > self->max_units
      && (whole <= self->max_units || self->units > self->max_units / 2
          || !fits (self, units + 2 * (1 + fence->length))))
    flush (self);
  g_free (self->opener);
  self->opener = long_name ? g_strdup (marks) : g_strndup (line, bytes);
  self->fence = fence->character;
  self->fence_length = fence->length;
  self->opener_at = self->part->len;
  self->opener_was_said = FALSE;
  self->block_is_empty = TRUE;
  put (self, self->opener, strlen (self->opener));
  put (self, "\n", 1);
  if (!long_name)
    return;
  /* It cannot be said again in every part, so it becomes text. */
  rest = line + strspn (line, " ") + fence->length;
  put_text (self, rest, (gsize) (line + bytes - rest));
  put_text (self, "\n", 1);
}

static void
close_block (Split *self, const char *line, gsize bytes)
{
  guint units = units_of (line, bytes);

  if (self->block_is_empty && self->opener_was_said)
    {
      self->fence = '\0';
      /* The part before ended with the last of the block, and with its end. */
      g_string_truncate (self->part, self->opener_at);
      self->units = units_of (self->part->str, self->part->len);
      return;
    }
  if (self->units + units <= self->max_units)
    put (self, line, bytes);
  else
    end_block_text (self); /* there is always room for this one */
  self->fence = '\0';
  self->has_text = TRUE;
}

static void
put_line_end (Split *self)
{
  if (fits (self, 1))
    put_text (self, "\n", 1);
  else
    flush (self);
}

GStrv
sbx_split_reply (const char *text, guint max_units)
{
  Split self = { .max_units = max_units, .parts = g_ptr_array_new (), .part = g_string_new (NULL) };
  const char *line = text;

  g_return_val_if_fail (max_units >= SBX_MIN_PART_UNITS, NULL);

  for (;;)
    {
      const char *end = sbx_fence_line_end (line);
      gsize bytes = (gsize) (end - line);
      SbxFence fence;
      gboolean is_fence = sbx_fence_read (line, bytes, &fence);

      if (is_fence && self.fence == '\0')
        open_block (&self, line, bytes, &fence);
      else if (is_fence && closes (&self, &fence))
        {
          close_block (&self, line, bytes);
          if (*end != '\0')
            put_line_end (&self);
        }
      else
        {
          put_text (&self, line, bytes);
          if (*end != '\0')
            put_line_end (&self);
        }
      if (*end == '\0')
        break;
      line = end + 1;
    }
  /* Even an empty block is something to show, where the text has one. */
  if (self.fence != '\0' && self.block_is_empty && !self.opener_was_said)
    {
      self.has_text = TRUE;
      self.block_is_empty = FALSE;
    }
  flush (&self);
  g_string_free (self.part, TRUE);
  g_free (self.opener);
  g_ptr_array_add (self.parts, NULL);
  return (GStrv) g_ptr_array_free (self.parts, FALSE);
}
