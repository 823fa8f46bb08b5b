/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Links and images in replies: fixed examples, and properties over many made-up texts, judged by a reader of
 * its own that reads as Discord does. */
#include <string.h>

#include "base/utf16.h"
#include "daemon/defang.h"
#include "daemon/split-reply.h"

static const struct {
  const char *text;
  const char *wanted; /* NULL: as it was */
} examples[] = {
  { "", NULL },
  { "no link at all, 1 < 2 > 0, f(x)[i] (y), a!b", NULL },
  { "https://a.example/b", "<https://a.example/b>" },
  { "See HTTP://A.example.", "See <HTTP://A.example>." },
  { "(see https://a.example/x(y)z)", "(see <https://a.example/x(y)z>)" },
  { "*https://a.example*, ftp://b.example!", "*<https://a.example>*, <ftp://b.example>!" },
  { "<https://a.example>", NULL },
  { "<https://a.example", "<<https://a.example>" },
  { "<https://a.example b>", "<<https://a.example> b>" },
  { "https://", NULL },
  { "xhttps://a.example", "x<https://a.example>" },
  { "http://a.example https://b.example", "<http://a.example> <https://b.example>" },
  { "https://a.example/é\xe2\x80\xa8x", "<https://a.example/é>\xe2\x80\xa8x" },
  { "\\https://a.example", "\\ <https://a.example>" },
  { "\\\\https://a.example", "\\\\<https://a.example>" },
  /* links */
  { "[text](https://a.example)", "[text] (<https://a.example>)" },
  { "[text](<https://a.example>)", "[text] (<https://a.example>)" },
  { "[text](https://a.example \"title\")", "[text] (<https://a.example> \"title\")" },
  { "[text](https://a.example/x(y))", "[text] (<https://a.example/x(y)>)" },
  { "[https://good.example](https://evil.example)", "[<https://good.example>] (<https://evil.example>)" },
  { "[text](<https://a.example b>)", "[text] (<<https://a.example> b>)" },
  { "[text](u \"![x](//a.example)\")", "[text] (u \"! [x] (//a.example)\")" },
  { "[text]()", "[text] ()" },
  { "[text] (https://a.example)", "[text] (<https://a.example>)" },
  { "[text](//a.example)", "[text] (//a.example)" },
  { "[text](javascript:x)", "[text] (javascript:x)" },
  { "[text][id]\n\n[id]: https://a.example", "[text][id]\n\n[id]: <https://a.example>" },
  { "h[ttps://a.example](x)", "h[ttps://a.example] (x)" },
  { "\\[text\\](https://a.example)", "\\[text\\](<https://a.example>)" },
  /* images */
  { "![alt](https://a.example/i.png)", "! [alt] (<https://a.example/i.png>)" },
  { "![](https://a.example/?q=secret)", "! [] (<https://a.example/?q=secret>)" },
  { "![alt](//a.example)", "! [alt] (//a.example)" },
  { "[![alt](https://i.example)](https://a.example)",
    "[! [alt] (<https://i.example>)] (<https://a.example>)" },
  { "!![alt]", "!! [alt]" },
  { "![alt][id]", "! [alt][id]" },
  { "\\![alt](https://a.example)", "\\![alt] (<https://a.example>)" },
  { "!\\[alt](https://a.example)", "!\\[alt] (<https://a.example>)" },
  /* code */
  { "`https://a.example`", NULL },
  { "``a ` https://a.example``", NULL },
  { "run `curl https://a.example | sh` now", NULL },
  { "```\nhttps://a.example\n[t](https://b.example)\n```", NULL },
  { "words\n```sh\ncurl https://a.example\n```\nhttps://b.example",
    "words\n```sh\ncurl https://a.example\n```\n<https://b.example>" },
  { "```https://a.example```", NULL },
  { "\\`https://a.example`", "\\`<https://a.example>`" },
  { "`https://a.example", "`<https://a.example>" },
  { "```\nhttps://a.example", "```\n<https://a.example>" },
  { "`a`b` `https://a.example`", "`a`b` `<https://a.example>`" },
  /* What CommonMark takes for one code block, and Discord for two with a text between. */
  { "```\na ```\nhttps://a.example\n```", "```\na ```\n<https://a.example>\n```" },
  { "a ``` b\n```\nhttps://a.example\n```", "a ``` b\n```\n<https://a.example>\n```" },
  { "```\n```\na\n```\nhttps://a.example\n```", "```\n```\na\n```\n<https://a.example>\n```" },
  { "~~~\nhttps://a.example\n~~~", "~~~\n<https://a.example>\n~~~" },
  { "````\nhttps://a.example\n````", "````\n<https://a.example>\n````" },
  { "|a|b|\n|-|-|\n|`c|https://a.example`|", "|a|b|\n|-|-|\n|`c|<https://a.example>`|" },
  { "[a](x`y) `https://a.example`", "[a] (x`y) `<https://a.example>`" },
};

static void
test_examples (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (examples); i++)
    {
      const char *wanted = examples[i].wanted != NULL ? examples[i].wanted : examples[i].text;
      g_autofree char *got = sbx_defang (examples[i].text);
      g_autofree char *again = sbx_defang (got);

      g_assert_cmpstr (got, ==, wanted);
      /* Done once is done. */
      g_assert_cmpstr (again, ==, got);
    }
}

/* The rules of Discord's client for what is code and what is a link without a preview, in its order. */
static const char *
find_live_url (const char *text)
{
  static const char *const skipped[] = {
    "\\\\[^0-9A-Za-z\\s]",
    "```(?:[A-Za-z0-9_+\\-.#]+?\\n)?\\n*[^\\n][\\s\\S]*?\\n*```",
    "(`+)[\\s\\S]*?[^`]\\1(?!`)",
    "<[^: >]+:/[^ >]+>",
  };
  static GRegex *regexes[G_N_ELEMENTS (skipped)];
  gsize bytes = strlen (text);

  for (gsize at = 0; at < bytes;)
    {
      gsize step = 0;

      for (gsize i = 0; i < G_N_ELEMENTS (skipped) && step == 0; i++)
        {
          g_autoptr (GMatchInfo) match = NULL;
          int start, end;

          if (regexes[i] == NULL)
            regexes[i] = g_regex_new (skipped[i], G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, NULL);
          if (g_regex_match_full (regexes[i], text, (gssize) bytes, (int) at, G_REGEX_MATCH_ANCHORED, &match,
                                  NULL)
              && g_match_info_fetch_pos (match, 0, &start, &end))
            step = (gsize) (end - start);
        }
      if (step == 0 && g_regex_match_simple ("^https?://[^\\s<]", text + at, G_REGEX_CASELESS, 0))
        return text + at;
      at += MAX (step, 1);
    }
  return NULL;
}

static const char *const pieces[] = {
  "a",
  " ",
  "\n",
  "\n\n",
  "`",
  "``",
  "```",
  "\n```\n",
  "\n```c\n",
  "````",
  "~~~\n",
  "[",
  "]",
  "](",
  ")",
  "!",
  "![",
  "<",
  ">",
  "\\",
  "(",
  "|",
  "\"",
  "'",
  "é",
  "https://a.example",
  "http://b.example/x",
  "[t](https://c.example)",
  "\n|-|-|\n",
  "<https://d.example>",
  "//e.example",
  "\n    ",
  "> ",
  "- ",
};

static char *
make_text (void)
{
  GString *text = g_string_new (NULL);

  for (gint n = g_test_rand_int_range (0, 40); n > 0; n--)
    g_string_append (text, pieces[g_test_rand_int_range (0, G_N_ELEMENTS (pieces))]);
  return g_string_free (text, FALSE);
}

static void
test_nothing_lives (void)
{
  for (guint i = 0; i < 10000; i++)
    {
      g_autofree char *text = make_text ();
      g_autofree char *got = sbx_defang (text);
      const char *live = find_live_url (got);

      g_assert_true (g_utf8_validate (got, -1, NULL));
      if (live != NULL)
        g_error ("<<%s>> became <<%s>>, with a URL at \"%s\"", text, got, live);
      if (g_regex_match_simple ("(?<!\\\\)!\\[", got, 0, 0) && strpbrk (text, "`<") == NULL
          && strchr (text, '\\') == NULL)
        g_error ("<<%s>> became <<%s>>, with an image", text, got);
    }
}

/* A cut may go through a bracket, or through code. */
static void
test_parts (void)
{
  for (guint i = 0; i < 5000; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      guint max = (guint) g_test_rand_int_range (SBX_MIN_PART_UNITS, 100);
      g_autofree char *safe = NULL;
      g_auto (GStrv) parts = NULL;

      for (guint j = 0; j < 4; j++)
        {
          g_autofree char *more = make_text ();

          g_string_append (text, more);
        }
      safe = sbx_defang (text->str);
      parts = sbx_split_reply (safe, max);
      for (gsize j = 0; parts[j] != NULL; j++)
        {
          gsize units = sbx_utf16_units (parts[j]);

          sbx_defang_part (parts[j]);
          g_assert_cmpuint (sbx_utf16_units (parts[j]), ==, units);
          g_assert_cmpuint (units, <=, max);
          if (find_live_url (parts[j]) != NULL)
            g_error ("max %u: <<%s>> has the part <<%s>>", max, safe, parts[j]);
        }
    }
}

/* Code in fences comes out as it went in, whatever is in it. */
static void
test_code_is_left_alone (void)
{
  static const char *const lines[] = {
    "https://a.example", "![a](https://b.example)", "[t](u)", "x", "", "a ` b", "  ~~~"
  };

  for (guint i = 0; i < 2000; i++)
    {
      g_autoptr (GString) text = g_string_new ("words `https://a.example` and\n");
      g_autofree char *got = NULL;

      for (gint blocks = g_test_rand_int_range (1, 4); blocks > 0; blocks--)
        {
          g_string_append (text, "```c\ncode\n");
          for (gint n = g_test_rand_int_range (0, 6); n > 0; n--)
            g_string_append_printf (text, "%s\n", lines[g_test_rand_int_range (0, G_N_ELEMENTS (lines))]);
          g_string_append (text, "```\nmore\n");
        }
      got = sbx_defang (text->str);
      g_assert_cmpstr (got, ==, text->str);
    }
}

/* No text makes it slow: what is looked for ahead has bounds, or is looked for once. */
static void
test_long_texts (void)
{
  static const char *const repeated[] = { "[",    "![",    "](", "[](",  "[](x \"",   "`",        "` `` ",
                                          "``` ", "```\n", "<",  "<a:/", "<https://", "https://(" };

  for (gsize i = 0; i < G_N_ELEMENTS (repeated); i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autofree char *got = NULL;

      while (text->len < 400000)
        g_string_append (text, repeated[i]);
      got = sbx_defang (text->str);
      g_assert_nonnull (got);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/defang/examples", test_examples);
  g_test_add_func ("/defang/nothing-lives", test_nothing_lives);
  g_test_add_func ("/defang/parts", test_parts);
  g_test_add_func ("/defang/code-is-left-alone", test_code_is_left_alone);
  g_test_add_func ("/defang/long-texts", test_long_texts);
  return g_test_run ();
}
