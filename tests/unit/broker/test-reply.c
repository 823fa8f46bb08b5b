/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/reply.h"

#include <string.h>

#include "wire/reply.h"

typedef struct {
  const char *data;
  SbxFailure failure;
  gboolean ok;
  const char *text;
} Case;

static const Case cases[] = {
  { "{\"ok\":true,\"text\":\"hello\"}", SBX_FAILURE_NONE, TRUE, "hello" },
  { " {\"text\":\"\",\"ok\":false}\r\n", SBX_FAILURE_NONE, FALSE, "" },
  { "{\"ok\":true,\"text\":\"\\u00e9\\ud83d\\ude00\"}", SBX_FAILURE_NONE, TRUE, "\xc3\xa9\xf0\x9f\x98\x80" },
  { "{\"ok\":true,\"text\":\"a\",\"extra\":[1,{}]}", SBX_FAILURE_NONE, TRUE, "a" },
  { "", SBX_FAILURE_REPLY_INVALID },
  { "null", SBX_FAILURE_REPLY_INVALID },
  { "[]", SBX_FAILURE_REPLY_INVALID },
  { "{}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":true}", SBX_FAILURE_REPLY_INVALID },
  { "{\"text\":\"a\"}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":1,\"text\":\"a\"}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":null,\"text\":\"a\"}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":\"true\",\"text\":\"a\"}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":true,\"text\":null}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":true,\"text\":[\"a\"]}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":true,\"text\":5}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":true,\"text\":\"a\"}{\"ok\":true,\"text\":\"a\"}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":true,\"text\":\"a\"", SBX_FAILURE_REPLY_INVALID },
  { "log line\n{\"ok\":true,\"text\":\"a\"}", SBX_FAILURE_REPLY_INVALID },
  { "{\"ok\":true,\"text\":\"\xff\"}", SBX_FAILURE_REPLY_INVALID },
};

static void
test_table (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (SbxControlReply) reply = { 0 };
      g_autofree char *shown =
        g_strescape (cases[i].data, NULL); /* one of them is no UTF-8, as TAP must be */

      g_test_message ("%s", shown);
      g_assert_cmpint (sbx_reply_read (cases[i].data, strlen (cases[i].data), &reply), ==, cases[i].failure);
      g_assert_cmpstr (reply.text, ==, cases[i].text);
      g_assert_cmpint (reply.ok, ==, cases[i].ok);
      g_assert_cmpint (reply.compaction, ==, SBX_COMPACTION_NONE);
    }
}

static char *
reply_of_units (const char *unit, gsize n_units)
{
  GString *out = g_string_new ("{\"ok\":true,\"text\":\"");

  for (gsize i = 0; i < n_units; i++)
    g_string_append (out, unit);
  g_string_append (out, "\"}");
  return g_string_free (out, FALSE);
}

static void
test_length (void)
{
  static const struct {
    const char *unit;
    gsize most;
  } rows[] = {
    { "x", SBX_MAX_REPLY_UNITS },
    { "\xe4\xb8\x81", SBX_MAX_REPLY_UNITS },
    { "\xf0\x9f\x98\x80", SBX_MAX_REPLY_UNITS / 2 }, /* a character of two units */
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *most = reply_of_units (rows[i].unit, rows[i].most);
      g_autofree char *more = reply_of_units (rows[i].unit, rows[i].most + 1);
      g_auto (SbxControlReply) reply = { 0 };

      g_assert_cmpint (sbx_reply_read (more, strlen (more), &reply), ==, SBX_FAILURE_REPLY_TOO_LARGE);
      g_assert_cmpint (sbx_reply_read (most, strlen (most), &reply), ==, SBX_FAILURE_NONE);
    }
}

static void
test_compaction (void)
{
  static const struct {
    const char *member;
    SbxCompactionBy by;
    const char *reason;
    guint32 tokens;
  } rows[] = {
    { "{\"by\":\"tool\",\"tokens_before\":70000}", SBX_COMPACTION_BY_TOOL, "none", 70000 },
    { "{\"by\":\"model\",\"reason\":\"compactor-failed\",\"tokens_before\":5}", SBX_COMPACTION_BY_MODEL,
      "compactor-failed", 5 },
    { "{\"by\":\"dropped\",\"reason\":\"guest words\",\"tokens_before\":-1}", SBX_COMPACTION_DROPPED, "none",
      0 },
    { "{\"by\":\"model\",\"tokens_before\":99999999999}", SBX_COMPACTION_BY_MODEL, "none", G_MAXUINT32 },
    { "{\"by\":\"guest words\",\"tokens_before\":5}", SBX_COMPACTION_NONE, "none", 0 },
    { "{\"by\":2}", SBX_COMPACTION_NONE, "none", 0 },
    { "[]", SBX_COMPACTION_NONE, "none", 0 },
    { "null", SBX_COMPACTION_NONE, "none", 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *data =
        g_strdup_printf ("{\"ok\":true,\"text\":\"a\",\"compaction\":%s}", rows[i].member);
      g_auto (SbxControlReply) reply = { 0 };

      g_test_message ("%s", rows[i].member);
      g_assert_cmpint (sbx_reply_read (data, strlen (data), &reply), ==, SBX_FAILURE_NONE);
      g_assert_cmpint (reply.compaction, ==, rows[i].by);
      g_assert_cmpstr (sbx_reply_reason_name (reply.compaction_reason), ==, rows[i].reason);
      g_assert_cmpuint (reply.compaction_tokens_before, ==, rows[i].tokens);
    }
}

static void
test_store_words (void)
{
  static const struct {
    const char *data;
    SbxFailure failure;
    guint8 set_aside;
  } rows[] = {
    { "{\"ok\":false,\"text\":\"\",\"reason\":\"store-unreadable\"}", SBX_FAILURE_STORE_UNREADABLE, 0 },
    { "{\"ok\":false,\"text\":\"\",\"reason\":\"disk-full\"}", SBX_FAILURE_DISK_FULL, 0 },
    { "{\"ok\":false,\"text\":\"\",\"reason\":\"empty-answer\"}", SBX_FAILURE_MODEL_ANSWER, 0 },
    { "{\"ok\":false,\"text\":\"\",\"reason\":\"guest words\"}", SBX_FAILURE_NONE, 0 },
    { "{\"ok\":false,\"text\":\"\",\"reason\":7}", SBX_FAILURE_NONE, 0 },
    { "{\"ok\":true,\"text\":\"\",\"reason\":\"disk-full\"}", SBX_FAILURE_NONE, 0 },
    { "{\"ok\":true,\"text\":\"\",\"set_aside\":[\"history.json\"]}", SBX_FAILURE_NONE,
      SBX_SET_ASIDE_HISTORY },
    { "{\"ok\":true,\"text\":\"\",\"set_aside\":[\"memory.json\",\"/etc/passwd\",null,\"history.json\"]}",
      SBX_FAILURE_NONE, SBX_SET_ASIDE_ALL },
    { "{\"ok\":true,\"text\":\"\",\"set_aside\":\"memory.json\"}", SBX_FAILURE_NONE, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SbxControlReply) reply = { 0 };

      g_test_message ("%s", rows[i].data);
      g_assert_cmpint (sbx_reply_read (rows[i].data, strlen (rows[i].data), &reply), ==, SBX_FAILURE_NONE);
      g_assert_cmpint (reply.failure, ==, rows[i].failure);
      g_assert_cmpuint (reply.set_aside, ==, rows[i].set_aside);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/broker/reply/table", test_table);
  g_test_add_func ("/broker/reply/length", test_length);
  g_test_add_func ("/broker/reply/compaction", test_compaction);
  g_test_add_func ("/broker/reply/store-words", test_store_words);
  return g_test_run ();
}
