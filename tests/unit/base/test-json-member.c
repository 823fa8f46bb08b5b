/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-member.h"

#include <string.h>

#include "base/json-tree.h"

#define UNTOUCHED 77

typedef enum { NONE, TEXT, INTEGER, BOOLEAN, OBJECT, LIST } Kind;

/* Every kind of value, and which one getter takes it. "m" is the member that is asked for. */
static const struct {
  const char *json;
  Kind kind;
  const char *text;
  gint64 integer;
  gboolean boolean;
} cases[] = {
  { .json = "{\"m\":\"\"}", .kind = TEXT, .text = "" },
  { .json = "{\"m\":\"words\"}", .kind = TEXT, .text = "words" },
  { .json = "{\"m\":\"5\"}", .kind = TEXT, .text = "5" },
  { .json = "{\"m\":0}", .kind = INTEGER, .integer = 0 },
  { .json = "{\"m\":-9223372036854775808}", .kind = INTEGER, .integer = G_MININT64 },
  { .json = "{\"m\":1.0}", .kind = NONE },
  { .json = "{\"m\":9223372036854775808}", .kind = NONE },
  { .json = "{\"m\":false}", .kind = BOOLEAN, .boolean = FALSE },
  { .json = "{\"m\":true}", .kind = BOOLEAN, .boolean = TRUE },
  { .json = "{\"m\":null}", .kind = NONE },
  { .json = "{\"m\":{}}", .kind = OBJECT },
  { .json = "{\"m\":{\"m\":\"inner\"}}", .kind = OBJECT },
  { .json = "{\"m\":[]}", .kind = LIST },
  { .json = "{\"m\":[\"inner\"]}", .kind = LIST },
  { .json = "{}", .kind = NONE },
  { .json = "{\"n\":\"words\"}", .kind = NONE },
};

static void
test_members (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gsize n_bytes = strlen (cases[i].json);
      g_autoptr (JsonNode) root = sbx_json_read (cases[i].json, n_bytes, n_bytes, NULL);
      JsonObject *object = sbx_json_node_object (root);
      gint64 integer = UNTOUCHED;
      gboolean boolean = UNTOUCHED;

      g_test_message ("%s", cases[i].json);
      g_assert_nonnull (object);
      g_assert_cmpstr (sbx_json_member_text (object, "m"), ==, cases[i].text);
      g_assert_true ((sbx_json_member_object (object, "m") != NULL) == (cases[i].kind == OBJECT));
      g_assert_true ((sbx_json_member_list (object, "m") != NULL) == (cases[i].kind == LIST));
      g_assert_true (sbx_json_member_integer (object, "m", &integer) == (cases[i].kind == INTEGER));
      g_assert_cmpint (integer, ==, cases[i].kind == INTEGER ? cases[i].integer : UNTOUCHED);
      g_assert_true (sbx_json_member_boolean (object, "m", &boolean) == (cases[i].kind == BOOLEAN));
      g_assert_cmpint (boolean, ==, cases[i].kind == BOOLEAN ? cases[i].boolean : UNTOUCHED);
    }
}

/* Where the way down ends early: no critical, which would end the test. */
static void
test_nothing (void)
{
  gint64 integer = UNTOUCHED;
  gboolean boolean = UNTOUCHED;

  g_assert_null (sbx_json_node_text (NULL));
  g_assert_null (sbx_json_node_object (NULL));
  g_assert_null (sbx_json_node_list (NULL));
  g_assert_false (sbx_json_node_integer (NULL, &integer));
  g_assert_false (sbx_json_node_boolean (NULL, &boolean));
  g_assert_null (sbx_json_member_text (sbx_json_member_object (NULL, "a"), "m"));
  g_assert_null (sbx_json_member_list (NULL, "m"));
  g_assert_false (sbx_json_member_integer (NULL, "m", &integer));
  g_assert_false (sbx_json_member_boolean (NULL, "m", &boolean));
  g_assert_cmpint (integer, ==, UNTOUCHED);
  g_assert_cmpint (boolean, ==, UNTOUCHED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-member/members", test_members);
  g_test_add_func ("/json-member/nothing", test_nothing);
  return g_test_run ();
}
