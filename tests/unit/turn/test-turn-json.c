/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-json.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/json-tree.h"
#include "wire/bounds.h"

static SbxSettings *
load_defaults (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *root = g_dir_make_tmp ("sbx-json-XXXXXX", NULL);
  SbxSettings *settings = sbx_settings_load (root, NULL, &error);

  g_assert_no_error (error);
  (void) g_rmdir (root);
  return settings;
}

static JsonObject *
read_back (GBytes *turn, JsonNode **ret_root)
{
  g_autoptr (GError) error = NULL;
  gsize n_bytes = 0;
  const char *text = g_bytes_get_data (turn, &n_bytes);

  *ret_root = sbx_json_read (text, n_bytes, SBX_MAX_TURN_BYTES, &error);
  g_assert_no_error (error);
  return json_node_get_object (*ret_root);
}

static void
add_tool (SbxSettings *settings, const char *name, SbxToolKind kind)
{
  SbxTool *tool = g_new0 (SbxTool, 1);

  tool->spec.name = g_strdup (name);
  tool->spec.description = g_strdup ("says \"it\"");
  tool->spec.parameters = g_strdup ("{\"type\":\"object\"}");
  tool->kind = kind;
  g_ptr_array_add (settings->tools, tool);
}

static void
test_members (void)
{
  g_autoptr (SbxSettings) settings = load_defaults ();
  const SbxTurnWords words = {
    .text = "a \"b\"\n", .speaker_id = "7", .speaker_name = "\xc3\xa4", .left_msec = 90000
  };
  g_autoptr (GBytes) turn = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonObject *object;
  JsonArray *tools;

  add_tool (settings, "clock", SBX_TOOL_KIND_TOOL);
  add_tool (settings, "shorten", SBX_TOOL_KIND_COMPACTOR);
  g_assert_false (settings->config->compaction);
  turn = sbx_turn_json_write (settings, &words, NULL);
  object = read_back (turn, &root);
  g_assert_cmpstr (json_object_get_string_member (object, "text"), ==, words.text);
  g_assert_cmpstr (json_object_get_string_member (json_object_get_object_member (object, "speaker"), "name"),
                   ==, words.speaker_name);
  g_assert_cmpstr (json_object_get_string_member (object, "timeZone"), ==, "UTC");
  g_assert_true (json_object_get_boolean_member (object, "repair"));
  g_assert_cmpint (json_object_get_int_member (object, "calls"), ==, 48);
  g_assert_cmpint (json_object_get_int_member (object, "remaining_ms"), ==, 90000);
  g_assert_false (json_object_has_member (object, "reset"));
  g_assert_false (json_object_has_member (object, "compaction"));
  g_assert_false (json_object_has_member (object, "keep"));
  /* A compactor is never offered to the model. */
  tools = json_object_get_array_member (object, "tools");
  g_assert_cmpuint (json_array_get_length (tools), ==, 1);
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (tools, 0), "name"), ==,
                   "clock");
}

static void
test_opted_in (void)
{
  g_autoptr (SbxSettings) settings = load_defaults ();
  const SbxTurnWords words = { .text = "", .speaker_id = "", .speaker_name = "" };
  const char *const kept[] = { "reasoning_content", "extra_content", NULL };

  settings->config->compaction = TRUE;
  g_strfreev (settings->config->kept_members);
  settings->config->kept_members = g_strdupv ((char **) kept);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GBytes) turn = NULL;
      g_autoptr (JsonNode) root = NULL;
      JsonObject *object;
      JsonObject *compaction;

      if (i == 1)
        add_tool (settings, "shorten", SBX_TOOL_KIND_COMPACTOR);
      turn = sbx_turn_json_write (settings, &words, NULL);
      object = read_back (turn, &root);
      compaction = json_object_get_object_member (object, "compaction");
      if (i == 0)
        g_assert_true (json_object_get_null_member (compaction, "compactor"));
      else
        g_assert_cmpstr (json_object_get_string_member (compaction, "compactor"), ==, "shorten");
      g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "keep")), ==, 2);
      g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "tools")), ==, 0);
    }
}

static void
test_reset (void)
{
  g_autoptr (SbxSettings) settings = load_defaults ();
  const SbxTurnWords words = { .text = "", .speaker_id = "", .speaker_name = "", .reset = TRUE };
  g_autoptr (GBytes) turn = sbx_turn_json_write (settings, &words, NULL);
  g_autoptr (JsonNode) root = NULL;

  g_assert_true (json_object_get_boolean_member (read_back (turn, &root), "reset"));
}

/* The longest message there may be, each character at its most expensive, fits; nonsense does not. */
static void
test_size (void)
{
  g_autoptr (SbxSettings) settings = load_defaults ();
  g_autofree char *longest = g_strnfill (SBX_MAX_TEXT_UNITS, '\x01');
  g_autofree char *nonsense = g_strnfill (SBX_MAX_TURN_BYTES, 'x');
  SbxTurnWords words = { .text = longest, .speaker_id = "7", .speaker_name = "Ada" };
  g_autoptr (GBytes) turn = sbx_turn_json_write (settings, &words, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_nonnull (turn);
  words.text = nonsense;
  g_assert_null (sbx_turn_json_write (settings, &words, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/turn-json/members", test_members);
  g_test_add_func ("/turn/turn-json/opted-in", test_opted_in);
  g_test_add_func ("/turn/turn-json/reset", test_reset);
  g_test_add_func ("/turn/turn-json/size", test_size);
  return g_test_run ();
}
