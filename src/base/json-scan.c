/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-scan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"

enum {
  EXPECT_VALUE,
  EXPECT_VALUE_OR_CLOSE, /* behind [ */
  EXPECT_NAME,           /* behind a comma in an object */
  EXPECT_NAME_OR_CLOSE,  /* behind { */
  EXPECT_COMMA_OR_CLOSE,
  EXPECT_END,
};

typedef struct {
  gsize start;
  gsize n_bytes;
} Name;

G_DEFINE_QUARK (sbx - json - error - quark, sbx_json_error)

static SbxJsonEvent
scan_fail (const SbxJsonScan *self, SbxJsonError code, const char *rule, GError **error)
{
  g_set_error (error, SBX_JSON_ERROR, (gint) code, "Not acceptable as JSON at byte %" G_GSIZE_FORMAT ": %s",
               self->place, rule);
  return SBX_JSON_EVENT_ERROR;
}

gboolean
sbx_json_scan_init (SbxJsonScan *self, const char *data, gsize n_bytes, gsize max_bytes, GError **error)
{
  const char *end = data;

  *self = (SbxJsonScan){ .data = data, .n_bytes = n_bytes, .expect = EXPECT_VALUE };
  if (n_bytes > max_bytes)
    {
      self->place = max_bytes;
      (void) scan_fail (self, SBX_JSON_ERROR_TOO_LARGE, "the text is longer than it may be", error);
      return FALSE;
    }
  if (!sbx_bytes_are_utf8 (data, n_bytes, &end))
    {
      self->place = (gsize) (end - data);
      (void) scan_fail (self, SBX_JSON_ERROR_ENCODING, "the text is not valid UTF-8", error);
      return FALSE;
    }
  self->names = g_array_new (FALSE, FALSE, sizeof (Name));
  self->name_bytes = g_string_new (NULL);
  self->text = g_string_new (NULL);
  return TRUE;
}

void
sbx_json_scan_clear (SbxJsonScan *self)
{
  g_clear_pointer (&self->names, g_array_unref);
  if (self->name_bytes != NULL)
    g_string_free (g_steal_pointer (&self->name_bytes), TRUE);
  if (self->text != NULL)
    g_string_free (g_steal_pointer (&self->text), TRUE);
}

/* The byte at place + ahead; 0, which the UTF-8 check has excluded, behind the end. */
static char
scan_peek (const SbxJsonScan *self, gsize ahead)
{
  return ahead < self->n_bytes - self->place ? self->data[self->place + ahead] : '\0';
}

/* --- texts --- */

/* Four hex digits at place, which moves behind them. */
static gboolean
scan_hex (SbxJsonScan *self, gunichar *ret_unit)
{
  gunichar unit = 0;

  for (gsize i = 0; i < 4; i++)
    {
      int digit = g_ascii_xdigit_value (scan_peek (self, i));

      if (digit < 0)
        return FALSE;
      unit = unit << 4 | (gunichar) digit;
    }
  self->place += 4;
  *ret_unit = unit;
  return TRUE;
}

/* Behind "\u". */
static gboolean
scan_unicode_escape (SbxJsonScan *self)
{
  gunichar unit;

  if (!scan_hex (self, &unit))
    return FALSE;
  if (unit >= 0xd800 && unit <= 0xdbff && scan_peek (self, 0) == '\\' && scan_peek (self, 1) == 'u')
    {
      gsize before = self->place;
      gunichar low;

      self->place += 2;
      if (!scan_hex (self, &low))
        return FALSE;
      if (low >= 0xdc00 && low <= 0xdfff)
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
      else
        self->place = before; /* read again, as a character of its own */
    }
  if (unit == 0)
    g_string_append (self->text, SBX_JSON_NUL);
  else if ((unit >= 0xd800 && unit <= 0xdfff) || unit == 0xfdd0)
    g_string_append_unichar (self->text, 0xfffd);
  else
    g_string_append_unichar (self->text, unit);
  return TRUE;
}

/* Behind the backslash. */
static gboolean
scan_escape (SbxJsonScan *self)
{
  static const char letters[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  char letter = scan_peek (self, 0);
  const char *found;

  if (letter == 'u')
    {
      self->place++;
      return scan_unicode_escape (self);
    }
  found = letter != '\0' ? strchr (letters, letter) : NULL;
  if (found == NULL)
    return FALSE;
  self->place++;
  g_string_append_c (self->text, meanings[found - letters]);
  return TRUE;
}

/* Copies what stands as it is, up to a quote, a backslash or a control byte. */
static void
scan_plain (SbxJsonScan *self)
{
  gsize start = self->place;

  while (TRUE)
    {
      self->place += sbx_bytes_json_plain (self->data + self->place, self->n_bytes - self->place);
      if (scan_peek (self, 0) != '\xef')
        break;
      if (scan_peek (self, 1) == '\xb7' && scan_peek (self, 2) == '\x90')
        {
          g_string_append_len (self->text, self->data + start, (gssize) (self->place - start));
          g_string_append_unichar (self->text, 0xfffd);
          start = self->place + 3;
        }
      self->place += 3; /* a character that begins so has three bytes */
    }
  g_string_append_len (self->text, self->data + start, (gssize) (self->place - start));
}

/* At the opening quote. */
static gboolean
scan_text (SbxJsonScan *self, GError **error)
{
  g_string_truncate (self->text, 0);
  self->place++;
  while (TRUE)
    {
      scan_plain (self);
      switch (scan_peek (self, 0))
        {
        case '"':
          self->place++;
          return TRUE;
        case '\\':
          self->place++;
          if (scan_escape (self))
            break;
          (void) scan_fail (self, SBX_JSON_ERROR_SYNTAX, "an escape of RFC 8259 is expected", error);
          return FALSE;
        default:
          (void) scan_fail (self, SBX_JSON_ERROR_SYNTAX,
                            "a text holds a raw control character or does not end", error);
          return FALSE;
        }
    }
}

/* --- numbers --- */

static gsize
scan_digits (SbxJsonScan *self)
{
  gsize start = self->place;

  while (g_ascii_isdigit (scan_peek (self, 0)))
    self->place++;
  return self->place - start;
}

/* Moves behind a number. Returns FALSE where the grammar is broken. */
static gboolean
scan_number_form (SbxJsonScan *self, gboolean *ret_is_integer)
{
  *ret_is_integer = TRUE;
  if (scan_peek (self, 0) == '-')
    self->place++;
  if (scan_peek (self, 0) == '0')
    self->place++;
  else if (scan_digits (self) == 0)
    return FALSE;
  if (scan_peek (self, 0) == '.')
    {
      *ret_is_integer = FALSE;
      self->place++;
      if (scan_digits (self) == 0)
        return FALSE;
    }
  if (scan_peek (self, 0) == 'e' || scan_peek (self, 0) == 'E')
    {
      *ret_is_integer = FALSE;
      self->place++;
      if (scan_peek (self, 0) == '+' || scan_peek (self, 0) == '-')
        self->place++;
      if (scan_digits (self) == 0)
        return FALSE;
    }
  return TRUE;
}

static SbxJsonEvent
scan_number (SbxJsonScan *self, GError **error)
{
  char room[64]; /* for what people write */
  g_autofree char *more_room = NULL;
  char *literal = room;
  gsize start = self->place;
  gsize n_bytes;
  gboolean is_integer;

  if (!scan_number_form (self, &is_integer))
    return scan_fail (self, SBX_JSON_ERROR_SYNTAX, "a digit is expected", error);
  n_bytes = self->place - start;
  if (n_bytes >= sizeof room)
    literal = more_room = g_malloc (n_bytes + 1);
  memcpy (literal, self->data + start, n_bytes);
  literal[n_bytes] = '\0';

  if (is_integer && strcmp (literal, "-0") != 0)
    {
      errno = 0;
      self->integer = g_ascii_strtoll (literal, NULL, 10);
      if (errno == 0)
        return SBX_JSON_EVENT_INTEGER;
    }
  self->number = g_ascii_strtod (literal, NULL);
  if (!isfinite (self->number))
    return scan_fail (self, SBX_JSON_ERROR_NUMBER, "a number is too large for a double", error);
  return SBX_JSON_EVENT_DOUBLE;
}

/* --- objects and arrays --- */

static SbxJsonEvent
scan_open (SbxJsonScan *self, gboolean is_object, GError **error)
{
  if (self->depth == SBX_JSON_MAX_DEPTH)
    return scan_fail (self, SBX_JSON_ERROR_TOO_DEEP, "objects and lists are nested too deeply", error);
  self->place++;
  self->levels[self->depth].is_object = is_object;
  self->levels[self->depth].first_name = self->names->len;
  self->depth++;
  self->expect = is_object ? EXPECT_NAME_OR_CLOSE : EXPECT_VALUE_OR_CLOSE;
  return is_object ? SBX_JSON_EVENT_OBJECT : SBX_JSON_EVENT_ARRAY;
}

static void
scan_value_done (SbxJsonScan *self)
{
  self->expect = self->depth == 0 ? EXPECT_END : EXPECT_COMMA_OR_CLOSE;
}

static int
compare_names (gconstpointer first, gconstpointer second, gpointer name_bytes)
{
  const Name *a = first;
  const Name *b = second;

  if (a->n_bytes != b->n_bytes)
    return a->n_bytes < b->n_bytes ? -1 : 1;
  return memcmp ((const char *) name_bytes + a->start, (const char *) name_bytes + b->start, a->n_bytes);
}

/* Sorted and not hashed: nobody can choose names that make sorting quadratic. */
static gboolean
names_are_unique (SbxJsonScan *self, guint first)
{
  Name *names = &g_array_index (self->names, Name, first);
  guint count = self->names->len - first;

  if (count < 2)
    return TRUE;
  g_qsort_with_data (names, (gint) count, sizeof *names, compare_names, self->name_bytes->str);
  for (guint i = 1; i < count; i++)
    if (compare_names (&names[i - 1], &names[i], self->name_bytes->str) == 0)
      return FALSE;
  return TRUE;
}

static SbxJsonEvent
scan_close (SbxJsonScan *self, GError **error)
{
  guint first = self->levels[self->depth - 1].first_name;

  if (first < self->names->len)
    {
      gsize name_bytes_before = g_array_index (self->names, Name, first).start;

      if (!self->repeats_allowed && !names_are_unique (self, first))
        return scan_fail (self, SBX_JSON_ERROR_REPEATED_NAME, "the object that ends here has a member twice",
                          error);
      g_array_set_size (self->names, first);
      g_string_truncate (self->name_bytes, name_bytes_before);
    }
  self->place++;
  self->depth--;
  scan_value_done (self);
  return SBX_JSON_EVENT_CLOSE;
}

static void
scan_blanks (SbxJsonScan *self)
{
  while (self->place < self->n_bytes && strchr (" \t\n\r", self->data[self->place]) != NULL)
    self->place++;
}

/* At the opening quote, up to behind the colon. */
static SbxJsonEvent
scan_name (SbxJsonScan *self, GError **error)
{
  Name name = { .start = self->name_bytes->len };

  if (self->names->len - self->levels[self->depth - 1].first_name >= SBX_JSON_MAX_MEMBERS)
    return scan_fail (self, SBX_JSON_ERROR_TOO_MANY_MEMBERS, "an object has too many members", error);
  if (!scan_text (self, error))
    return SBX_JSON_EVENT_ERROR;
  name.n_bytes = self->text->len;
  g_string_append_len (self->name_bytes, self->text->str, (gssize) self->text->len);
  g_array_append_val (self->names, name);
  scan_blanks (self);
  if (scan_peek (self, 0) != ':')
    return scan_fail (self, SBX_JSON_ERROR_SYNTAX, "a colon is expected", error);
  self->place++;
  self->expect = EXPECT_VALUE;
  return SBX_JSON_EVENT_NAME;
}

static SbxJsonEvent
scan_word (SbxJsonScan *self, const char *word, SbxJsonEvent event, GError **error)
{
  gsize n_bytes = strlen (word);

  if (n_bytes > self->n_bytes - self->place || memcmp (self->data + self->place, word, n_bytes) != 0)
    return scan_fail (self, SBX_JSON_ERROR_SYNTAX, "a value is expected", error);
  self->place += n_bytes;
  scan_value_done (self);
  return event;
}

static SbxJsonEvent
scan_value (SbxJsonScan *self, GError **error)
{
  SbxJsonEvent event;

  switch (scan_peek (self, 0))
    {
    case '{':
      return scan_open (self, TRUE, error);
    case '[':
      return scan_open (self, FALSE, error);
    case '"':
      if (!scan_text (self, error))
        return SBX_JSON_EVENT_ERROR;
      scan_value_done (self);
      return SBX_JSON_EVENT_TEXT;
    case 't':
      return scan_word (self, "true", SBX_JSON_EVENT_TRUE, error);
    case 'f':
      return scan_word (self, "false", SBX_JSON_EVENT_FALSE, error);
    case 'n':
      return scan_word (self, "null", SBX_JSON_EVENT_NULL, error);
    default:
      if (scan_peek (self, 0) != '-' && !g_ascii_isdigit (scan_peek (self, 0)))
        return scan_fail (self, SBX_JSON_ERROR_SYNTAX, "a value is expected", error);
      event = scan_number (self, error);
      scan_value_done (self);
      return event;
    }
}

/* At a comma: moves on to what must follow it. */
static void
scan_comma (SbxJsonScan *self)
{
  self->place++;
  self->expect = self->levels[self->depth - 1].is_object ? EXPECT_NAME : EXPECT_VALUE;
  scan_blanks (self);
}

SbxJsonEvent
sbx_json_scan_next (SbxJsonScan *self, GError **error)
{
  char byte;

  scan_blanks (self);
  if (self->expect == EXPECT_COMMA_OR_CLOSE && scan_peek (self, 0) == ',')
    scan_comma (self);
  byte = scan_peek (self, 0);
  switch (self->expect)
    {
    case EXPECT_END:
      if (self->place == self->n_bytes)
        return SBX_JSON_EVENT_END;
      return scan_fail (self, SBX_JSON_ERROR_SYNTAX, "nothing may follow the first value", error);
    case EXPECT_COMMA_OR_CLOSE:
      if (byte == (self->levels[self->depth - 1].is_object ? '}' : ']'))
        return scan_close (self, error);
      return scan_fail (self, SBX_JSON_ERROR_SYNTAX, "a comma or the end of the object or list is expected",
                        error);
    case EXPECT_NAME_OR_CLOSE:
    case EXPECT_NAME:
      if (byte == '"')
        return scan_name (self, error);
      if (byte == '}' && self->expect == EXPECT_NAME_OR_CLOSE)
        return scan_close (self, error);
      return scan_fail (self, SBX_JSON_ERROR_SYNTAX, "a member's name in double quotes is expected", error);
    case EXPECT_VALUE_OR_CLOSE:
      if (byte == ']')
        return scan_close (self, error);
      return scan_value (self, error);
    case EXPECT_VALUE:
    default:
      return scan_value (self, error);
    }
}
