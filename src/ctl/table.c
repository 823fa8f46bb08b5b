/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/table.h"

#define GAP 2u

struct _SbxTable {
  char **headings;
  guint n_columns;
  GPtrArray *rows; /* of char **, n_columns each */
};

SbxTable *
sbx_table_new (const char *const *headings)
{
  SbxTable *self = g_new0 (SbxTable, 1);

  self->headings = g_strdupv ((char **) headings);
  self->n_columns = g_strv_length (self->headings);
  self->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  return self;
}

void
sbx_table_free (SbxTable *self)
{
  g_strfreev (self->headings);
  g_ptr_array_unref (self->rows);
  g_free (self);
}

void
sbx_table_add (SbxTable *self, const char *const *cells)
{
  g_return_if_fail (g_strv_length ((char **) cells) == self->n_columns);

  g_ptr_array_add (self->rows, g_strdupv ((char **) cells));
}

guint
sbx_table_length (const SbxTable *self)
{
  return self->rows->len;
}

/* Appends the cell as it is shown; returns its width. */
static guint
append_cell (GString *text, const char *cell)
{
  g_autofree char *valid = g_utf8_make_valid (cell, -1);
  guint width = 0;

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar letter = g_utf8_get_char (at);

      if (!g_unichar_isprint (letter))
        letter = '?';
      g_string_append_unichar (text, letter);
      width += g_unichar_iszerowidth (letter) ? 0 : g_unichar_iswide (letter) ? 2 : 1;
    }
  return width;
}

static guint
cell_width (const char *cell)
{
  g_autoptr (GString) scratch = g_string_new (NULL);

  return append_cell (scratch, cell);
}

static void
append_row (GString *text, char **cells, const guint *widths, guint n_columns)
{
  for (guint i = 0; i < n_columns; i++)
    {
      guint width = append_cell (text, cells[i]);

      /* No blanks at a line's end: they wrap on a narrow terminal. */
      for (; i + 1 < n_columns && width < widths[i] + GAP; width++)
        g_string_append_c (text, ' ');
    }
  g_string_append_c (text, '\n');
}

char *
sbx_table_text (const SbxTable *self, gboolean legend)
{
  g_autofree guint *widths = g_new0 (guint, self->n_columns);
  GString *text = g_string_new (NULL);

  for (guint column = 0; column < self->n_columns; column++)
    {
      widths[column] = legend ? cell_width (self->headings[column]) : 0;
      for (guint i = 0; i < self->rows->len; i++)
        {
          char **cells = g_ptr_array_index (self->rows, i);

          widths[column] = MAX (widths[column], cell_width (cells[column]));
        }
    }
  if (legend)
    append_row (text, self->headings, widths, self->n_columns);
  for (guint i = 0; i < self->rows->len; i++)
    append_row (text, g_ptr_array_index (self->rows, i), widths, self->n_columns);
  return g_string_free (text, FALSE);
}

char *
sbx_json_text (JsonNode *node, SbxJsonMode mode)
{
  g_autofree char *text = json_to_string (node, mode == SBX_JSON_PRETTY);

  return g_strconcat (text, "\n", NULL);
}

char *
sbx_table_json (const SbxTable *self, SbxJsonMode mode)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;

  json_builder_begin_array (builder);
  for (guint i = 0; i < self->rows->len; i++)
    {
      char **cells = g_ptr_array_index (self->rows, i);

      json_builder_begin_object (builder);
      for (guint column = 0; column < self->n_columns; column++)
        {
          g_autofree char *name = g_ascii_strdown (self->headings[column], -1);

          json_builder_set_member_name (builder, name);
          json_builder_add_string_value (builder, cells[column]);
        }
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  root = json_builder_get_root (builder);
  return sbx_json_text (root, mode);
}
