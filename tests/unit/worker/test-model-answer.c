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
      g_autoptr (GVariant) root = sbx_json_in_read (json, strlen (json), strlen (json), NULL);
      g_autoptr (SbxAnswer) answer = sbx_answer_new (root, toolbox, used, 0, keep);

      g_test_message ("%s", json);
      g_assert_cmpint (answer->kind, ==, cases[i].kind);
      g_assert_cmpstr (answer->kind == SBX_ANSWER_FINAL ? answer->text : answer->message, ==, cases[i].text);
      g_assert_true (answer->cut_short == cases[i].cut_short);
    }
}

/* What endpoints were seen to send, as whole answers. */
static const struct {
  const char *answer;
  SbxAnswerKind kind;
} endpoints[] = {
  /* OpenRouter, and gateways: status 200 with an error in the body, code a number or a text */
  { "{\"error\":{\"code\":429,\"message\":\"slow\",\"metadata\":{}}}", SBX_ANSWER_BROKEN },
  { "{\"error\":{\"code\":\"429\",\"type\":\"None\",\"param\":null}}", SBX_ANSWER_BROKEN },
  { "{\"error\":\"error parsing tool call\"}", SBX_ANSWER_BROKEN },
  /* vLLM, Mistral: flat; Gemini: a list */
  { "{\"object\":\"error\",\"message\":\"m\",\"type\":\"t\",\"param\":null,\"code\":400}",
    SBX_ANSWER_BROKEN },
  { "[{\"error\":{\"code\":400,\"message\":\"m\",\"status\":\"INVALID_ARGUMENT\"}}]", SBX_ANSWER_BROKEN },
  { "\"error\"", SBX_ANSWER_BROKEN },
  { "null", SBX_ANSWER_BROKEN },
  /* an error beside a choice, once generation began */
  { "{\"error\":{\"code\":502},\"choices\":[{\"finish_reason\":\"error\",\"native_finish_reason\":\"x\","
    "\"message\":"
    "{\"content\":\"\"}}]}",
    SBX_ANSWER_EMPTY },
  /* no finish reason, or null, or unknown; members that nobody asked for */
  { "{\"choices\":[{\"message\":{\"content\":\"x\"}}]}", SBX_ANSWER_FINAL },
  { "{\"choices\":[{\"finish_reason\":null,\"message\":{\"content\":\"x\",\"refusal\":null,\"audio\":null}}],"
    "\"timings\":{}}",
    SBX_ANSWER_FINAL },
  { "\n\n \r\n{\"choices\":[{\"message\":{\"content\":\"x\"}},{\"message\":{\"content\":\"second\"}}]}",
    SBX_ANSWER_FINAL },
  /* an empty text that ended by the length limit is no silent reply */
  { "{\"choices\":[{\"finish_reason\":\"length\",\"message\":{\"content\":null,\"reasoning_content\":\"r\"}}]"
    "}",
    SBX_ANSWER_EMPTY },
  /* calls with a finish reason of another kind, indexes all 0, arguments an object, ids missing, numeric or
     equal */
  { "{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"content\":null,\"tool_calls\":[" CALL "]}}]}",
    SBX_ANSWER_CALLS },
  { "{\"choices\":[{\"finish_reason\":\"end_turn\",\"message\":{\"tool_calls\":[{\"index\":0,\"id\":7,"
    "\"function\":{\"name\":"
    "\"memory_get\",\"arguments\":{\"scope\":\"channel\"}}},{\"index\":0,\"function\":{\"name\":\"memory_"
    "get\","
    "\"arguments\":\"{\"}}," CALL "," CALL "]}}]}",
    SBX_ANSWER_CALLS },
  { "{\"choices\":[{\"message\":{\"content\":\"x\",\"tool_calls\":[null,7,{},{\"function\":[]}]}}]}",
    SBX_ANSWER_CALLS },
};

static void
test_endpoints (void)
{
  g_autoptr (SbxTurnInput) input = sbx_turn_input_read (turn, strlen (turn), NULL);
  g_autoptr (SbxToolbox) toolbox = sbx_toolbox_new (input);

  for (guint i = 0; i < G_N_ELEMENTS (endpoints); i++)
    {
      g_autoptr (GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_autoptr (GHashTable) ids = g_hash_table_new (g_str_hash, g_str_equal);
      gsize n_bytes = strlen (endpoints[i].answer);
      g_autoptr (GVariant) root = sbx_json_in_read (endpoints[i].answer, n_bytes, n_bytes, NULL);
      g_autoptr (SbxAnswer) answer = NULL;

      g_test_message ("%s", endpoints[i].answer);
      g_assert_nonnull (root);
      answer = sbx_answer_new (root, toolbox, used, 0, NULL);
      g_assert_cmpint (answer->kind, ==, endpoints[i].kind);
      if (answer->kind == SBX_ANSWER_FINAL)
        g_assert_cmpstr (answer->text, ==, "x");
      for (guint k = 0; answer->calls != NULL && k < answer->calls->len; k++)
        g_assert_true (g_hash_table_add (ids, ((SbxCall *) answer->calls->pdata[k])->id));
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
  g_autoptr (GVariant) root = sbx_json_in_read (json, strlen (json), strlen (json), NULL);
  g_autoptr (SbxAnswer) answer = sbx_answer_new (root, toolbox, used, 0, keep);

  g_assert_null (strstr (answer->message, "reasoning"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/model-answer/table", test_table);
  g_test_add_func ("/worker/model-answer/endpoints", test_endpoints);
  g_test_add_func ("/worker/model-answer/kept-bound", test_keeps_nothing_huge);
  return g_test_run ();
}
