/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/model-request.h"

#include <string.h>

#include "wire/bounds.h"

#define FINE       SBX_MODEL_REQUEST_FINE
#define REFUSED    SBX_MODEL_REQUEST_REFUSED
#define UNREADABLE SBX_MODEL_REQUEST_UNREADABLE

static const char *const kept[] = { "reasoning_content", "extra_content", "content", "id", NULL };

static void
assert_text (GBytes *bytes, const char *expected)
{
  g_autofree char *text = NULL;

  if (expected == NULL)
    {
      g_assert_null (bytes);
      return;
    }
  g_assert_nonnull (bytes);
  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_assert_cmpstr (text, ==, expected);
}

/* The verdict on a body. What is let through is held against the expected parts (NULL: not looked at), and
 * must be let through again, unchanged, as the egress does. */
static SbxModelVerdict
judge (const char *body, const char *const *kept_members, const char *messages, const char *tools)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (body, strlen (body));
  g_autoptr (GBytes) ret_messages = NULL;
  g_autoptr (GBytes) ret_tools = NULL;
  g_autoptr (GBytes) again_messages = NULL;
  g_autoptr (GBytes) again_tools = NULL;
  SbxModelVerdict verdict = sbx_model_request_read_body (bytes, kept_members, &ret_messages, &ret_tools);

  if (verdict != FINE)
    {
      g_assert_null (ret_messages);
      g_assert_null (ret_tools);
      return verdict;
    }
  if (messages != NULL)
    {
      assert_text (ret_messages, messages);
      assert_text (ret_tools, tools);
    }
  g_assert_cmpint (
    sbx_model_request_read_parts (ret_messages, ret_tools, kept_members, &again_messages, &again_tools), ==,
    FINE);
  g_assert_true (g_bytes_equal (ret_messages, again_messages));
  g_assert_true ((ret_tools == NULL) == (again_tools == NULL));
  if (ret_tools != NULL)
    g_assert_true (g_bytes_equal (ret_tools, again_tools));
  return verdict;
}

static void
check (const char *body, SbxModelVerdict expected)
{
  SbxModelVerdict verdict = judge (body, NULL, NULL, NULL);

  if (verdict != expected)
    g_error ("verdict %u and not %u on %s", (guint) verdict, (guint) expected, body);
}

static void
test_top_level (void)
{
  static const struct {
    const char *body;
    SbxModelVerdict verdict;
    const char *messages;
    const char *tools;
  } cases[] = {
    { "{\"messages\":[]}", FINE, "[]", NULL },
    { "{\"messages\":[],\"tools\":[]}", FINE, "[]", "[]" },
    { "{\"model\":\"x\",\"messages\":[],\"stream\":true,\"n\":9,\"tool_choice\":{}}", FINE, "[]", NULL },
    { "{\"m\\u0065ssages\":[{\"r\\u006fle\":\"user\",\"content\":\"a\"}]}", FINE,
      "[{\"role\":\"user\",\"content\":\"a\"}]", NULL },
    { "{\"messages\\u0000\":1,\"messages\":[]}", FINE, "[]", NULL },
    { "{}", REFUSED, NULL, NULL },
    { "{\"messages\":null}", REFUSED, NULL, NULL },
    { "{\"messages\":{}}", REFUSED, NULL, NULL },
    { "{\"messages\":true}", REFUSED, NULL, NULL },
    { "{\"messages\":[],\"tools\":null}", REFUSED, NULL, NULL },
    { "{\"messages\":[],\"tools\":{}}", REFUSED, NULL, NULL },
    { "{\"messages\":[],\"tools\":0}", REFUSED, NULL, NULL },
    { "[]", REFUSED, NULL, NULL },
    { "\"messages\"", REFUSED, NULL, NULL },
    { "null", REFUSED, NULL, NULL },
    { "{\"messages\":[]", UNREADABLE, NULL, NULL },
    { "{\"messages\":[],\"messages\":[]}", UNREADABLE, NULL, NULL },
    { "", UNREADABLE, NULL, NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (judge (cases[i].body, NULL, cases[i].messages, cases[i].tools), ==, cases[i].verdict);
}

static void
check_message (const char *message, SbxModelVerdict expected)
{
  g_autofree char *body = g_strdup_printf ("{\"messages\":[%s]}", message);

  check (body, expected);
}

static void
test_messages (void)
{
  static const struct {
    const char *message;
    SbxModelVerdict verdict;
  } cases[] = {
    { "{\"role\":\"system\",\"content\":\"hi\"}", FINE },
    { "{\"role\":\"user\",\"content\":\"\"}", FINE },
    { "{\"role\":\"assistant\",\"content\":\"hi\"}", FINE },
    { "{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":\"a\"}", FINE },
    { "{\"role\":\"user\",\"content\":\"a\\u0000b\\ud800\"}", FINE },
    { "{\"role\":\"developer\",\"content\":\"hi\"}", REFUSED },
    { "{\"role\":\"User\",\"content\":\"hi\"}", REFUSED },
    { "{\"role\":\"\",\"content\":\"hi\"}", REFUSED },
    { "{\"role\":\"user\\u0000\",\"content\":\"hi\"}", REFUSED },
    { "{\"role\":1,\"content\":\"hi\"}", REFUSED },
    { "{\"content\":\"hi\"}", REFUSED },
    { "{\"role\":\"user\"}", REFUSED },
    { "{\"role\":\"user\",\"content\":null}", REFUSED },
    { "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", REFUSED },
    { "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://"
      "x.example\"}}]}",
      REFUSED },
    { "{\"role\":\"user\",\"content\":{}}", REFUSED },
    { "{\"role\":\"user\",\"content\":\"hi\",\"name\":\"x\"}", REFUSED },
    { "{\"role\":\"user\",\"content\":\"hi\",\"name\":null}", REFUSED },
    { "{\"role\":\"user\",\"content\":\"hi\",\"content \":\"x\"}", REFUSED },
    { "{\"role\":\"assistant\",\"content\":\"hi\",\"reasoning_content\":\"x\"}", REFUSED },
    { "{\"role\":\"assistant\",\"content\":\"hi\",\"id\":\"x\"}", REFUSED },
    { "{\"role\":\"user\",\"content\":\"hi\",\"tool_calls\":[]}", REFUSED },
    { "{\"role\":\"user\",\"content\":\"hi\",\"tool_call_id\":\"a\"}", REFUSED },
    { "{\"role\":\"user\",\"content\":\"hi\",\"tool_call_id\":null}", REFUSED },
    { "{\"role\":\"assistant\",\"content\":\"hi\",\"tool_call_id\":\"a\"}", REFUSED },
    { "{\"role\":\"tool\",\"content\":\"x\"}", REFUSED },
    { "{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":\"\"}", REFUSED },
    { "{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":1}", REFUSED },
    { "{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":null}", REFUSED },
    { "\"hi\"", REFUSED },
    { "[\"user\",\"hi\"]", REFUSED },
    { "null", REFUSED },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    check_message (cases[i].message, cases[i].verdict);
}

static void
check_call (const char *call, SbxModelVerdict expected)
{
  g_autofree char *message =
    g_strdup_printf ("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[%s]}", call);

  check_message (message, expected);
}

static void
test_calls (void)
{
  static const struct {
    const char *call;
    SbxModelVerdict verdict;
  } cases[] = {
    { "", FINE },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"not json\"}}", FINE },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"},\"index\":0}",
      FINE },
    { "{\"id\":\"\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}", REFUSED },
    { "{\"id\":1,\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}", REFUSED },
    { "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"Function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"web_search\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}", REFUSED },
    { "{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"F\",\"arguments\":\"\"}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\\n\",\"arguments\":\"\"}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\\u0000\",\"arguments\":\"\"}}",
      REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{}}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":null}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\"}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"arguments\":\"\"}}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\",\"function\":[]}", REFUSED },
    { "{\"id\":\"a\",\"type\":\"function\"}", REFUSED },
    { "null", REFUSED },
    { "\"x\"", REFUSED },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    check_call (cases[i].call, cases[i].verdict);
  check_message ("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":null}", REFUSED);
  check_message ("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":{}}", REFUSED);
  check_message ("{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}", REFUSED);
}

static void
check_tools (const char *tools, SbxModelVerdict expected)
{
  g_autofree char *body = g_strdup_printf ("{\"messages\":[],\"tools\":[%s]}", tools);

  check (body, expected);
}

static void
test_tools (void)
{
#define TOOL(name, description, parameters)                                                                  \
  "{\"type\":\"function\",\"function\":{\"name\":" name ",\"description\":" description                      \
  ",\"parameters\":" parameters "}}"
  static const struct {
    const char *tools;
    SbxModelVerdict verdict;
  } cases[] = {
    { TOOL ("\"f\"", "\"\"", "{}"), FINE },
    { TOOL ("\"f\"", "\"\"", "{}") "," TOOL ("\"g\"", "\"\"", "{}"), FINE },
    { TOOL ("\"f\"", "\"\"", "{}") "," TOOL ("\"f\"", "\"\"", "{}"), REFUSED }, /* a name twice */
    { TOOL ("\"f\"", "null", "{}"), REFUSED },
    { TOOL ("\"f\"", "1", "{}"), REFUSED },
    { TOOL ("\"f\"", "\"\"", "true"), REFUSED },
    { TOOL ("\"f\"", "\"\"", "[]"), REFUSED },
    { TOOL ("\"f\"", "\"\"", "\"{}\""), REFUSED },
    { TOOL ("\"f\"", "\"\"", "{\"$ref\":\"https://elsewhere.example\"}"), REFUSED },
    { TOOL ("\"f\"", "\"\"", "{\"$ref\":\"#/x\"}"), FINE },
    { TOOL ("\"f-g\"", "\"\"", "{}"), REFUSED },
    { TOOL ("null", "\"\"", "{}"), REFUSED },
    { "{\"type\":\"web_search_preview\"}", REFUSED },
    { "{\"type\":\"function\",\"name\":\"f\",\"description\":\"\",\"parameters\":{}}", REFUSED },
    { "{\"type\":\"function\"}", REFUSED },
    { "{\"function\":{\"name\":\"f\",\"description\":\"\",\"parameters\":{}}}", REFUSED },
    { "{}", REFUSED },
    { "null", REFUSED },
    { "[]", REFUSED },
  };
#undef TOOL

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    check_tools (cases[i].tools, cases[i].verdict);
}

/* What is dropped and what stays: parameters whole, with their numbers. */
static void
test_normal_form (void)
{
  const char *body =
    " { \"tools\" : [ "
    "{\"server_url\":\"https://x.example\",\"type\":\"function\",\"function\":{\"strict\":true,"
    "\"parameters\":{\"b\":1,\"a\":{\"maximum\":1.50,\"x\":[18446744073709551615]}},\"description\":\"d\","
    "\"name\":\"f\"}} ], \"max_tokens\":1, \"messages\" : [ "
    "{\"content\":\"\\u0041\",\"tool_calls\":[{\"index\":3,"
    "\"function\":{\"arguments\":\"{\\\"x\\\": 1}\",\"name\":\"f\",\"url\":\"x\"},\"type\":\"function\","
    "\"id\":\"c\"}],\"role\":\"assistant\"},{\"tool_call_id\":\"c\",\"content\":\"r\\u0000\",\"role\":"
    "\"tool\"} ] } ";
  const char *messages =
    "[{\"role\":\"assistant\",\"content\":\"A\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\","
    "\"function\":{"
    "\"name\":\"f\",\"arguments\":\"{\\\"x\\\": 1}\"}}]},{\"role\":\"tool\",\"content\":\"r\\u0000\","
    "\"tool_call_id\":\"c\"}]";
  const char *tools =
    "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\",\"parameters\":{"
    "\"b\":1,\"a\":{\"maximum\":1.5,\"x\":[18446744073709552000]}}}}]";

  g_assert_cmpint (judge (body, NULL, messages, tools), ==, FINE);
}

/* Members that the operator lets through: in assistant messages and their calls only, never in place of the
 * contract's. */
static void
test_kept_members (void)
{
  static const struct {
    const char *message;
    SbxModelVerdict verdict;
    const char *messages;
  } cases[] = {
    { "{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":{\"x\":[1]}}", FINE,
      "[{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":{\"x\":[1]}}]" },
    { "{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\","
      "\"function\":{"
      "\"name\":\"f\",\"arguments\":\"\"},\"extra_content\":\"s\",\"other\":1}]}",
      FINE,
      "[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\","
      "\"function\":{"
      "\"name\":\"f\",\"arguments\":\"\"},\"extra_content\":\"s\"}]}]" },
    { "{\"role\":\"user\",\"content\":\"a\",\"reasoning_content\":\"x\"}", REFUSED, NULL },
    { "{\"role\":\"assistant\",\"content\":\"a\",\"id\":\"x\"}", REFUSED, NULL },
    { "{\"role\":\"assistant\",\"content\":[\"x\"]}", REFUSED, NULL },
    { "{\"role\":\"assistant\",\"content\":\"a\",\"other\":\"x\"}", REFUSED, NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *body = g_strdup_printf ("{\"messages\":[%s]}", cases[i].message);

      g_assert_cmpint (judge (body, kept, cases[i].messages, NULL), ==, cases[i].verdict);
    }
}

static char *
repeat_item (const char *before, const char *item, guint count, const char *after)
{
  GString *text = g_string_new (before);

  for (guint i = 0; i < count; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "", item);
  g_string_append (text, after);
  return g_string_free (text, FALSE);
}

static void
test_counts (void)
{
  static const char call[] =
    "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}";
  g_autofree char *messages_128 =
    repeat_item ("{\"messages\":[", "{\"role\":\"user\",\"content\":\"\"}", 128, "]}");
  g_autofree char *messages_129 =
    repeat_item ("{\"messages\":[", "{\"role\":\"user\",\"content\":\"\"}", 129, "]}");
  g_autofree char *calls_8 = repeat_item ("", call, 8, "");
  g_autofree char *calls_9 = repeat_item ("", call, 9, "");
  g_autoptr (GString) tools = g_string_new (NULL);

  check (messages_128, FINE);
  check (messages_129, REFUSED);
  check_call (calls_8, FINE);
  check_call (calls_9, REFUSED);
  for (guint i = 0; i < 129; i++)
    {
      g_string_append_printf (tools,
                              "%s{\"type\":\"function\",\"function\":{\"name\":\"f%u\",\"description\":\"\","
                              "\"parameters\":{}}}",
                              i > 0 ? "," : "", i);
      if (i >= 127)
        check_tools (tools->str, i == 127 ? FINE : REFUSED);
    }
}

/* Ids count in UTF-16 units. */
static void
test_id_length (void)
{
  static const struct {
    const char *character;
    guint count;
    SbxModelVerdict verdict;
  } cases[] = {
    { "i", 128, FINE },
    { "i", 129, REFUSED },
    { "\xc3\xa9", 128, FINE },
    { "\xc3\xa9", 129, REFUSED },
    { "\xf0\x9f\x98\x80", 64, FINE },
    { "\xf0\x9f\x98\x80", 65, REFUSED },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GString *id = g_string_new (NULL);
      g_autofree char *text = NULL;
      g_autofree char *message = NULL;
      g_autofree char *call = NULL;

      for (guint j = 0; j < cases[i].count; j++)
        g_string_append (id, cases[i].character);
      text = g_string_free (id, FALSE);
      message = g_strdup_printf ("{\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"%s\"}", text);
      call = g_strdup_printf (
        "{\"id\":\"%s\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}", text);
      check_message (message, cases[i].verdict);
      check_call (call, cases[i].verdict);
    }
}

static void
test_size (void)
{
  g_autofree char *content = g_strnfill (SBX_MAX_BODY_BYTES, 'x');
  g_autofree char *exact =
    g_strdup_printf ("{\"messages\":[{\"role\":\"user\",\"content\":\"%.262101s\"}]}", content);
  g_autofree char *over =
    g_strdup_printf ("{\"messages\":[{\"role\":\"user\",\"content\":\"%.262102s\"}]}", content);
  g_autofree char *numbers = repeat_item (
    "{\"messages\":[],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"\","
    "\"parameters\":{\"enum\":[",
    "1e14", 50000, "]}}}]}");

  g_assert_cmpuint (strlen (exact), ==, SBX_MAX_BODY_BYTES);
  check (exact, FINE);
  check (over, UNREADABLE);
  check (numbers, REFUSED); /* it would be three times as long when written again */
}

/* What a taken-over broker could say to the egress. */
static void
test_parts (void)
{
  static const struct {
    const char *messages;
    const char *tools;
    SbxModelVerdict verdict;
  } cases[] = {
    { "[]", NULL, FINE },
    { "[]", "[]", FINE },
    { "{}", NULL, REFUSED },
    { "[],\"model\":\"other\"", NULL, UNREADABLE },
    { "[]", "[],\"stream\":true", UNREADABLE },
    { "[]", "null", REFUSED },
    { "", NULL, UNREADABLE },
    { "[{\"role\":\"user\",\"content\":[]}]", NULL, REFUSED },
    { "[]", "[{\"type\":\"web_search\"}]", REFUSED },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) messages = g_bytes_new_static (cases[i].messages, strlen (cases[i].messages));
      g_autoptr (GBytes) tools =
        cases[i].tools != NULL ? g_bytes_new_static (cases[i].tools, strlen (cases[i].tools)) : NULL;
      g_autoptr (GBytes) ret_messages = NULL;
      g_autoptr (GBytes) ret_tools = NULL;

      g_assert_cmpint (sbx_model_request_read_parts (messages, tools, NULL, &ret_messages, &ret_tools), ==,
                       cases[i].verdict);
    }
}

static void
test_names (void)
{
  static const struct {
    const char *name;
    gsize max_bytes;
    gboolean fine;
  } cases[] = {
    { "a", 48, TRUE },    { "a_b1", 48, TRUE }, { "abcd", 4, TRUE },  { "abcde", 4, FALSE },
    { "", 48, FALSE },    { "1a", 48, FALSE },  { "_a", 48, FALSE },  { "A", 48, FALSE },
    { "aB", 48, FALSE },  { "a-b", 48, FALSE }, { "a b", 48, FALSE }, { "a\n", 48, FALSE },
    { "\na", 48, FALSE }, { "a.b", 48, FALSE }, { "a/b", 48, FALSE }, { "caf\xc3\xa9", 48, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_true (sbx_name_is_valid (cases[i].name, cases[i].max_bytes) == cases[i].fine);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model-request/top-level", test_top_level);
  g_test_add_func ("/model-request/messages", test_messages);
  g_test_add_func ("/model-request/calls", test_calls);
  g_test_add_func ("/model-request/tools", test_tools);
  g_test_add_func ("/model-request/normal-form", test_normal_form);
  g_test_add_func ("/model-request/kept-members", test_kept_members);
  g_test_add_func ("/model-request/counts", test_counts);
  g_test_add_func ("/model-request/id-length", test_id_length);
  g_test_add_func ("/model-request/size", test_size);
  g_test_add_func ("/model-request/parts", test_parts);
  g_test_add_func ("/model-request/names", test_names);
  return g_test_run ();
}
