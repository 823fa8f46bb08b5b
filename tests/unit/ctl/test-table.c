/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/table.h"

static const char *const headings[] = { "CHANNEL", "STATE", NULL };

static SbxTable *
new_table (void)
{
  SbxTable *table = sbx_table_new (headings);

  sbx_table_add (table, (const char *const[]){ "a:1", "running", NULL });
  sbx_table_add (table, (const char *const[]){ "discord:12345", "", NULL });
  return table;
}

static void
test_text (void)
{
  g_autoptr (SbxTable) table = new_table ();
  g_autofree char *with = sbx_table_text (table, TRUE);
  g_autofree char *without = sbx_table_text (table, FALSE);

  g_assert_cmpuint (sbx_table_length (table), ==, 2);
  g_assert_cmpstr (with, ==, "CHANNEL        STATE\na:1            running\ndiscord:12345  \n");
  g_assert_cmpstr (without, ==, "a:1            running\ndiscord:12345  \n");
}

/* A name cannot move the cursor, and wide letters take two columns. */
static void
test_odd_cells (void)
{
  g_autoptr (SbxTable) table = sbx_table_new (headings);
  g_autofree char *text = NULL;

  sbx_table_add (table, (const char *const[]){ "a:\033[2J\n", "x", NULL });
  sbx_table_add (table, (const char *const[]){ "a:日本", "x", NULL });
  sbx_table_add (table, (const char *const[]){ "a:\xff", "x", NULL });
  text = sbx_table_text (table, FALSE);
  g_assert_cmpstr (text, ==, "a:?[2J?  x\na:日本   x\na:\xef\xbf\xbd      x\n");
}

static void
test_json (void)
{
  g_autoptr (SbxTable) table = new_table ();
  g_autoptr (SbxTable) empty = sbx_table_new (headings);
  g_autofree char *text = sbx_table_json (table, SBX_JSON_SHORT);
  g_autofree char *nothing = sbx_table_json (empty, SBX_JSON_SHORT);

  g_assert_cmpstr (
    text, ==,
    "[{\"channel\":\"a:1\",\"state\":\"running\"},{\"channel\":\"discord:12345\",\"state\":\"\"}]\n");
  g_assert_cmpstr (nothing, ==, "[]\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ctl/table/text", test_text);
  g_test_add_func ("/ctl/table/odd-cells", test_odd_cells);
  g_test_add_func ("/ctl/table/json", test_json);
  return g_test_run ();
}
