/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Splitting of replies: fixed examples, and properties over many made-up texts. */
#include <string.h>

#include "base/utf16.h"
#include "daemon/split-reply.h"
#include "wire/bounds.h"

#define TEN   "aaaaaaaaa "
#define SIXTY TEN TEN TEN TEN TEN TEN

static const struct {
  const char *name;
  const char *text;
  const char *parts[5];
} examples[] = {
  { "empty", "", { NULL } },
  { "blank", " \n\n ", { NULL } },
  { "short", "hello", { "hello" } },
  { "words", SIXTY "bbbb cccc", { SIXTY "bbbb", "cccc" } },
  { "lines",
    SIXTY "\nbbbb cccc",
    { "aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa", "bbbb cccc" } },
  { "one block", "```c\nint a;\n```", { "```c\nint a;\n```" } },
  { "block goes to the next part",
    "aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa\n```c\nint aaaaaaaaaaaaaaaa;\n```",
    { "aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa", "```c\nint aaaaaaaaaaaaaaaa;\n```" } },
  { "long block",
    "```c\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n```",
    { "```c\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n```",
      "```c\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n```" } },
  { "a long line of code goes on in the next part",
    "```c\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n```\nb",
    { "```c\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n```",
      "```c\naaaaaaaaaaaaaaaaaaaaaaa\n```\nb" } },
  { "a line of code that fills its part ends the block there",
    "```c\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n```\nbbbb",
    { "```c\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n```", "bbbb" } },
  { "a block begins where its first line is",
    "words\n```c\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n```",
    { "words", "```c\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n```",
      "```c\naaaaaaaaaaaaaaaaaaaaaaa\n```" } },
  { "an empty block is shown", "a\n```c\n```\nb", { "a\n```c\n```\nb" } },
  { "one that is never closed too", "```c", { "```c\n```" } },
  { "never closed", "```\nint a;", { "```\nint a;\n```" } },
  { "a cut makes no fence",
    SIXTY "```xyz",
    { "aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa", "    ```xyz" } },
  { "tilde inside backticks", "```\n~~~\n```", { "```\n~~~\n```" } },
};

static void
test_examples (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (examples); i++)
    {
      g_auto (GStrv) parts = sbx_split_reply (examples[i].text, 64);

      g_test_message ("%s", examples[i].name);
      for (gsize j = 0; parts[j] != NULL || examples[i].parts[j] != NULL; j++)
        {
          g_assert_cmpstr (parts[j], ==, examples[i].parts[j]);
          if (parts[j] == NULL)
            break;
        }
    }
}

static const char *const pieces[] = {
  "a",        "word",    " ",  "\n",          "\n\n",      "\n```c\n",           "\n```\n",
  "\n~~~~\n", "é",       "😀",  "👩‍🚀", "e\xcc\x81", "\n    ```x\n",       "x`x`",
  "x```x",    "\n- one", "\t", "漢字",        "\r\n",      "looooooooooooooong", "\n````\n",
};

static char *
make_text (void)
{
  GString *text = g_string_new (NULL);
  gint n = g_test_rand_int_range (0, 120);

  for (gint i = 0; i < n; i++)
    {
      const char *piece = pieces[g_test_rand_int_range (0, G_N_ELEMENTS (pieces))];

      for (gint again = g_test_rand_int_range (0, 4); again >= 0; again--)
        g_string_append (text, piece);
    }
  return g_string_free (text, FALSE);
}

/* The fences of a part, read anew with the plainest reader of them. */
static gboolean
is_balanced (const char *part)
{
  g_auto (GStrv) lines = g_strsplit (part, "\n", -1);
  char open = '\0';
  gsize length = 0;

  for (gsize i = 0; lines[i] != NULL; i++)
    {
      const char *line = lines[i];
      gsize indent = strspn (line, " ");
      gsize run = strspn (line + indent, line[indent] == '~' ? "~" : "`");

      if (indent > 3 || run < 3 || run > 16)
        continue;
      if (open == '\0' && (line[indent] == '~' || strchr (line + indent + run, '`') == NULL))
        {
          open = line[indent];
          length = run;
        }
      else if (open == line[indent] && run >= length
               && line[indent + run + strspn (line + indent + run, " \t\r")] == '\0')
        open = '\0';
    }
  return open == '\0';
}

/* Whether a part is one code block with nothing in it. */
static gboolean
is_empty_block (const char *part)
{
  return g_regex_match_simple ("^ {0,3}(`{3,}|~{3,})[^\n]*\\s+[`~]+\\s*$", part, 0, 0);
}

/* Whether the text has one itself, closed or not. */
static gboolean
has_empty_block (const char *text)
{
  return g_regex_match_simple ("(^|\n) {0,3}(`{3,}|~{3,})[^\n]*\\s*(\n[`~ ]*|$)", text, 0, 0);
}

/* Letters, in order: what no splitting may lose or add. Fences and their languages may be said again. */
static char *
letters_of (const char *text)
{
  GString *letters = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar character = g_utf8_get_char (p);

      if (!g_unichar_isspace (character) && character != '`' && character != '~' && character != 'c')
        g_string_append_unichar (letters, character);
    }
  return g_string_free (letters, FALSE);
}

static void
test_properties (void)
{
  for (guint i = 0; i < 3000; i++)
    {
      g_autofree char *text = make_text ();
      guint max = (guint) g_test_rand_int_range (SBX_MIN_PART_UNITS, 300);
      g_auto (GStrv) parts = sbx_split_reply (text, max);
      g_autofree char *joined = g_strjoinv ("", parts);
      g_autofree char *got = letters_of (joined);
      g_autofree char *wanted = letters_of (text);

      for (gsize j = 0; parts[j] != NULL; j++)
        {
          g_assert_true (g_utf8_validate (parts[j], -1, NULL));
          g_assert_cmpuint (sbx_utf16_units (parts[j]), <=, max);
          g_assert_cmpstr (parts[j], !=, "");
          if (is_empty_block (parts[j]) && !has_empty_block (text))
            g_error ("max %u: part %" G_GSIZE_FORMAT " of <<%s>> is an empty block: <<%s>>", max, j, text,
                     parts[j]);
          if (!is_balanced (parts[j]))
            g_error ("max %u: part %" G_GSIZE_FORMAT " of <<%s>> is not whole: <<%s>>", max, j, text,
                     parts[j]);
        }
      if (!g_str_equal (got, wanted))
        g_error ("max %u: <<%s>> became <<%s>>", max, text, joined);
    }
}

/* The longest replies that a guest can ask for, into the largest parts and the smallest: what is counted
 * again and again, for each line or each part, is felt here. */
static void
test_longest (void)
{
  static const char *const repeated[] = { "```\n", "```\na\n", "~~~\n", "`", "x", "a b ", "\xe2\x80\x8d" };

  for (gsize i = 0; i < G_N_ELEMENTS (repeated); i++)
    {
      guint n = SBX_MAX_REPLY_UNITS / (guint) sbx_utf16_units (repeated[i]);
      GString *text = g_string_new (NULL);
      g_auto (GStrv) small = NULL;
      g_auto (GStrv) large = NULL;

      for (guint j = 0; j < n; j++)
        g_string_append (text, repeated[i]);
      small = sbx_split_reply (text->str, SBX_MIN_PART_UNITS);
      large = sbx_split_reply (text->str, SBX_MAX_REPLY_UNITS);
      g_assert_cmpuint (g_strv_length (small), >, SBX_MAX_REPLY_UNITS / SBX_MIN_PART_UNITS * 9 / 10);
      g_assert_cmpuint (g_strv_length (large), <=, 2);
      (void) g_string_free (text, TRUE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/split-reply/examples", test_examples);
  g_test_add_func ("/split-reply/properties", test_properties);
  g_test_add_func ("/split-reply/longest", test_longest);
  return g_test_run ();
}
