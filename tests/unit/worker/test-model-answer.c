/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The shapes that endpoints give, beside those of the vectors. */
#include <string.h>

#include "json-in.h"
#include "model-answer.h"

static const char turn[] =
  "{\"text\":\"t\",\"speaker\":{\"id\":\"i\",\"name\":\"n\"},\"model\":\"m\",\"prompt\":\"p\","
  "\"timeZone\":\"UTC\",\"tools\":[],\"mcp\":[]}";

#define CALL "{\"id\":\"a\",\"function\":{\"name\":\"memory_get\",\"arguments\":\"{}\"}}"

static const struct {
  const char *message;
  const char *more; /* members of the choice */
  SbxAnswerKind kind;
  const char *text; /* FINAL: the text; CALLS: the assistant message */
  gboolean cut_short;
} cases[] = {
  { "{\"content\":\"x\"}", ",\"finish_reason\":\"length\"", SBX_ANSWER_FINAL, "x", TRUE },
  { "{\"content\":\"x\"}", ",\"finish_reason\":\"end_turn\"", SBX_ANSWER_FINAL, "x", FALSE },
  { "{\"content\":\"x\"}", ",\"finish_reason\":7", SBX_ANSWER_FINAL, "x", FALSE },
  { "{\"content\":[{\"type\":\"text\",\"text\":\"a "
    "\"},{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"b\"}]}",
    "", SBX_ANSWER_FINAL, "a b", FALSE },
  { "{\"content\":[{\"type\":\"image\"}]}", "", SBX_ANSWER_EMPTY, NULL, FALSE },
  { "{\"content\":\"\"}", ",\"finish_reason\":\"length\"", SBX_ANSWER_EMPTY, NULL, FALSE },
  { "{\"content\":null,\"tool_calls\":null}", "", SBX_ANSWER_EMPTY, NULL, FALSE },
  { "{\"content\":\"x\",\"tool_calls\":[" CALL "]}", ",\"finish_reason\":\"stop\"", SBX_ANSWER_CALLS,
    "{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\","
    "\"function\":{\"name\":"
    "\"memory_get\",\"arguments\":\"{}\"}}]}",
    FALSE },
  { "{\"reasoning_content\":\"r\",\"role\":\"tool\",\"tool_call_id\":\"q\",\"tool_calls\":[" CALL "]}", "",
    SBX_ANSWER_CALLS,
    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\","
    "\"function\":{\"name\":"
    "\"memory_get\",\"arguments\":\"{}\"}}],\"reasoning_content\":\"r\"}",
    FALSE },
};

static void
test_table (void)
{
  static const char *const keep[] = { "reasoning_content", "role", "tool_call_id", "reasoning_content",
                                      NULL };
  g_autoptr (SbxTurnInput) input = sbx_turn_input_read (turn, strlen (turn), NULL);
  g_autoptr (SbxToolbox) toolbox = sbx_toolbox_new (input);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_autofree char *json =
        g_strdup_printf ("\n\n{\"choices\":[{\"message\":%s%s}]}", cases[i].message, cases[i].more);
      g_autoptr (JsonNode) root = sbx_json_in_read (json, strlen (json), strlen (json), NULL);
      g_autoptr (SbxAnswer) answer = sbx_answer_new (root, toolbox, used, 0, keep);

      g_test_message ("%s", json);
      g_assert_cmpint (answer->kind, ==, cases[i].kind);
      g_assert_cmpstr (answer->kind == SBX_ANSWER_FINAL ? answer->text : answer->message, ==, cases[i].text);
      g_assert_true (answer->cut_short == cases[i].cut_short);
    }
}

static void
test_keeps_nothing_huge (void)
{
  static const char *const keep[] = { "reasoning", NULL };
  g_autoptr (SbxTurnInput) input = sbx_turn_input_read (turn, strlen (turn), NULL);
  g_autoptr (SbxToolbox) toolbox = sbx_toolbox_new (input);
  g_autoptr (GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *huge = g_strnfill (SBX_ANSWER_KEPT_BYTES, 'r');
  g_autofree char *json =
    g_strdup_printf ("{\"choices\":[{\"message\":{\"reasoning\":\"%s\",\"tool_calls\":[" CALL "]}}]}", huge);
  g_autoptr (JsonNode) root = sbx_json_in_read (json, strlen (json), strlen (json), NULL);
  g_autoptr (SbxAnswer) answer = sbx_answer_new (root, toolbox, used, 0, keep);

  g_assert_null (strstr (answer->message, "reasoning"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/model-answer/table", test_table);
  g_test_add_func ("/worker/model-answer/kept-bound", test_keeps_nothing_huge);
  return g_test_run ();
}
