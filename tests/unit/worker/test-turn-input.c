/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>

#include "turn-input.h"

#define BASE                                                                                                 \
  "\"text\":\"t\",\"speaker\":{\"id\":\"i\",\"name\":\"n\"},\"model\":\"m\",\"prompt\":\"p\",\"timeZone\":"  \
  "\"UTC\","                                                                                                 \
  "\"tools\":[],\"mcp\":[]"

static const struct {
  const char *json;
  gboolean good;
} cases[] = {
  { "{" BASE "}", TRUE },
  { "{" BASE ",\"repair\":true,\"calls\":5,\"keep\":[\"reasoning\"],\"remaining_ms\":100}", TRUE },
  { "{" BASE ",\"repair\":null,\"calls\":null,\"keep\":null,\"compaction\":null}", TRUE },
  { "{" BASE ",\"compaction\":{}}", TRUE },
  { "{" BASE ",\"compaction\":{\"compactor\":\"sum\"}}", TRUE },
  { "{" BASE ",\"compaction\":{\"compactor\":\"../sum\"}}", FALSE },
  { "{" BASE ",\"compaction\":true}", FALSE },
  { "{" BASE ",\"calls\":-1}", FALSE },
  { "{" BASE ",\"calls\":1.5}", FALSE },
  { "{" BASE ",\"keep\":[1]}", FALSE },
  { "{" BASE ",\"keep\":\"x\"}", FALSE },
  { "{" BASE ",\"repair\":1}", FALSE },
  { "{" BASE ",\"reset\":null}", FALSE },
  { "[]", FALSE },
  { "", FALSE },
  { "{" BASE "}{}", FALSE },
};

static void
test_table (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SbxTurnInput) input = sbx_turn_input_read (cases[i].json, strlen (cases[i].json), &error);

      g_test_message ("%s", cases[i].json);
      g_assert_true ((input != NULL) == cases[i].good);
      g_assert_true ((error == NULL) == cases[i].good);
    }
}

static void
test_members (void)
{
  static const char json[] =
    "{" BASE ",\"reset\":true,\"calls\":7,\"keep\":[\"a\",\"b\"],\"compaction\":{\"compactor\":\"sum\"}}";
  g_autoptr (SbxTurnInput) input = sbx_turn_input_read (json, strlen (json), NULL);

  g_assert_true (input->reset);
  g_assert_false (input->repair);
  g_assert_cmpint (input->calls, ==, 7);
  g_assert_cmpint (input->remaining_ms, ==, -1);
  g_assert_cmpstr (input->keep->pdata[1], ==, "b");
  g_assert_null (input->keep->pdata[2]);
  g_assert_cmpstr (input->compactor, ==, "sum");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/turn-input/table", test_table);
  g_test_add_func ("/worker/turn-input/members", test_members);
  return g_test_run ();
}
