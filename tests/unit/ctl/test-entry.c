/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/entry.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static SbxEntry *
new_entry (const char *const *fields)
{
  SbxEntry *entry = sbx_entry_new (G_GINT64_CONSTANT (1700000000123456));

  for (; *fields != NULL; fields++)
    sbx_entry_take (entry, *fields, strlen (*fields));
  return entry;
}

static const char *const finished[] = {
  "PRIORITY=4",     "_PID=1", "MESSAGE=Turn t1 has\nended", "SANDBOX_CHANNEL=a:1", "SANDBOX_TURN=t1",
  "no equals sign", NULL,
};

static void
test_text (void)
{
  g_autoptr (SbxEntry) entry = new_entry (finished);
  g_autofree char *with = sbx_entry_text (entry, TRUE, FALSE);
  g_autofree char *without = sbx_entry_text (entry, FALSE, FALSE);
  g_autofree char *color = sbx_entry_text (entry, FALSE, TRUE);

  g_assert_cmpstr (with, ==, "Nov 14 22:13:20.123  a:1  Turn t1 has ended\n");
  g_assert_cmpstr (without, ==, "Nov 14 22:13:20.123  Turn t1 has ended\n");
  g_assert_cmpstr (color, ==, "Nov 14 22:13:20.123  \033[33mTurn t1 has ended\033[0m\n");
}

static void
test_json (void)
{
  g_autoptr (SbxEntry) entry = new_entry (finished);
  g_autofree char *json = sbx_entry_json (entry);

  g_assert_cmpstr (json, ==,
                   "{\"time_usec\":1700000000123456,\"priority\":4,\"message\":\"Turn t1 has\\nended\","
                   "\"channel\":\"a:1\",\"turn\":\"t1\"}\n");
}

/* Whatever the journal holds, a line stays a line. */
static void
test_odd (void)
{
  static const char *const fields[] = { "MESSAGE=\033[2J\xff", "PRIORITY=99", NULL };
  g_autoptr (SbxEntry) entry = new_entry (fields);
  g_autoptr (SbxEntry) empty = sbx_entry_new (0);
  g_autofree char *text = sbx_entry_text (entry, TRUE, FALSE);
  g_autofree char *nothing = sbx_entry_text (empty, TRUE, FALSE);

  g_assert_null (strchr (text, '\033'));
  g_assert_true (g_utf8_validate (text, -1, NULL));
  g_assert_cmpstr (nothing, ==, "Jan 01 00:00:00.000  \n");
}

static void
test_word (void)
{
  g_assert_true (sbx_entry_word_is_turn ("3e1f0c5a9b7d48e2"));
  g_assert_false (sbx_entry_word_is_turn ("3e1f0c5a9b7d48e"));
  g_assert_false (sbx_entry_word_is_turn ("3e1f0c5a9b7d48e23"));
  g_assert_false (sbx_entry_word_is_turn ("3e1f0c5a9b7d48eg"));
  g_assert_false (sbx_entry_word_is_turn ("discord:1234"));
  g_assert_false (sbx_entry_word_is_turn (""));
  g_assert_true (sbx_entry_word_is_channel ("discord:1234"));
  g_assert_false (sbx_entry_word_is_channel ("discord"));
}

int
main (int argc, char **argv)
{
  setenv ("TZ", "UTC", 1);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ctl/entry/text", test_text);
  g_test_add_func ("/ctl/entry/json", test_json);
  g_test_add_func ("/ctl/entry/odd", test_odd);
  g_test_add_func ("/ctl/entry/word", test_word);
  return g_test_run ();
}
