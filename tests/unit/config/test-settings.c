/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/settings.h"

#include <string.h>

#include "fixture.h"

#define SPEC "\"description\":\"d\",\"parameters\":{\"type\":\"object\"}"

static void
assert_holds (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("\"%s\" is not in \"%s\"", part, text);
}

static void
test_tools (void)
{
  Fixture fixture;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (SbxSettings) settings = NULL;
  g_autoptr (GError) error = NULL;
  const SbxTool *tool;
  const SbxMcpServer *server;

  fixture_init (&fixture);
  fixture_write (&fixture, "vendor", "tools.d/10-clock.json", "{\"name\":\"clock\"," SPEC "}");
  fixture_write (
    &fixture, "etc", "tools.d/20-bot.json",
    "{\"name\":\"bot\"," SPEC ",\"bus\":{\"name\":\"org.example.Bot\",\"path\":\"/org/example/Bot\","
    "\"interface\":\"org.example.Bot\",\"method\":\"Ask\"},\"kind\":\"compactor\",\"deadline_sec\":5,"
    "\"calls\":2,\"colour\":1}");
  fixture_write (
    &fixture, "etc", "mcp.d/a.json",
    "{\"name\":\"docs\",\"url\":\"https://example.com/mcp\",\"session\":true,\"key_file\":\"/k\",\"tools\":["
    "{\"name\":\"search\"," SPEC "},{\"name\":\"get_sum\",\"remote_name\":\"get-sum\"," SPEC "}]}");
  settings = sbx_settings_load (fixture.root, warnings, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (settings->tools->len, ==, 2);
  tool = g_ptr_array_index (settings->tools, 0);
  g_assert_cmpstr (tool->socket, ==, "/run/sandbox-tools/clock.sock");
  g_assert_cmpuint (tool->deadline_sec, ==, 60);
  g_assert_cmpstr (tool->spec.parameters, ==, "{\"type\":\"object\"}");
  tool = g_ptr_array_index (settings->tools, 1);
  g_assert_null (tool->socket);
  g_assert_cmpstr (tool->bus_method, ==, "Ask");
  g_assert_cmpint (tool->kind, ==, SBX_TOOL_KIND_COMPACTOR);
  g_assert_cmpuint (tool->max_calls, ==, 2);
  server = g_ptr_array_index (settings->servers, 0);
  g_assert_true (server->session);
  g_assert_nonnull (sbx_mcp_server_tool (server, "search"));
  g_assert_null (sbx_mcp_server_tool (server, "Search"));
  g_assert_null (sbx_mcp_server_tool (server, "search")->remote_name);
  g_assert_cmpstr (sbx_mcp_server_tool (server, "get_sum")->remote_name, ==, "get-sum");
  g_assert_null (sbx_mcp_server_tool (server, "get-sum"));
  g_assert_cmpuint (warnings->len, ==, 2); /* no URL; colour */
  fixture_clear (&fixture);
}

static void
test_bad_files (void)
{
  static const struct {
    const char *file;
    const char *content;
    const char *part;
  } cases[] = {
    { "tools.d/a.json", "[]", "one JSON object" },
    { "tools.d/a.json", "{\"name\":\"a\",\"name\":\"b\"," SPEC "}", "one JSON object" },
    { "tools.d/a.json", "{" SPEC "}", "\"name\"" },
    { "tools.d/a.json", "{\"name\":\"Clock\"," SPEC "}", "\"name\"" },
    { "tools.d/a.json", "{\"name\":\"a\\n\"," SPEC "}", "\"name\"" },
    { "tools.d/a.json", "{\"name\":\"a\",\"parameters\":{}}", "\"description\"" },
    { "tools.d/a.json", "{\"name\":\"a\",\"description\":\"d\",\"parameters\":true}", "\"parameters\"" },
    { "tools.d/a.json", "{\"name\":\"a\",\"description\":\"d\",\"parameters\":{\"$ref\":\"https://x\"}}",
      "local schema" },
    { "tools.d/a.json", "{\"name\":\"a\",\"description\":\"d\",\"parameters\":{\"$schema\":\"https://x\"}}",
      "local schema" },
    { "tools.d/a.json", "{\"name\":\"a\"," SPEC ",\"socket\":\"a.sock\"}", "\"socket\"" },
    { "tools.d/a.json", "{\"name\":\"a\"," SPEC ",\"socket\":\"/a\",\"bus\":{}}", "\"socket\"" },
    { "tools.d/a.json", "{\"name\":\"a\"," SPEC ",\"bus\":{\"name\":\"x\"}}", "\"path\"" },
    { "tools.d/a.json", "{\"name\":\"a\"," SPEC ",\"kind\":\"other\"}", "\"kind\"" },
    { "tools.d/a.json", "{\"name\":\"a\"," SPEC ",\"deadline_sec\":0}", "\"deadline_sec\"" },
    { "tools.d/a.json", "{\"name\":\"a\"," SPEC ",\"calls\":1.5}", "\"calls\"" },
    { "mcp.d/a.json", "{\"name\":\"a\",\"url\":\"http://127.0.0.1/\",\"tools\":[]}", "\"url\"" },
    { "mcp.d/a.json", "{\"name\":\"a\",\"url\":\"https://u:p@x/\",\"tools\":[]}", "\"url\"" },
    { "mcp.d/a.json", "{\"name\":\"a\",\"url\":\"https://x/\"}", "\"tools\"" },
    { "mcp.d/a.json", "{\"name\":\"a\",\"url\":\"https://x/\",\"tools\":[1]}", "\"tools\"" },
    { "mcp.d/a.json", "{\"name\":\"a\",\"url\":\"https://x/\",\"tools\":[],\"session\":1}", "\"session\"" },
    { "mcp.d/a.json", "{\"name\":\"a\",\"url\":\"https://x/\",\"tools\":[],\"key_file\":\"k\"}",
      "\"key_file\"" },
    { "mcp.d/a.json",
      "{\"name\":\"a\",\"url\":\"https://x/\",\"tools\":[{\"name\":\"t\"," SPEC "},{\"name\":\"t\"," SPEC
      "}]}",
      "twice" },
    { "mcp.d/a.json",
      "{\"name\":\"a\",\"url\":\"https://x/\",\"tools\":[{\"name\":\"t\",\"remote_name\":\"a b\"," SPEC "}]}",
      "\"remote_name\"" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Fixture fixture;
      g_autofree char *path = NULL;
      g_autoptr (GError) error = NULL;

      fixture_init (&fixture);
      path = fixture_path (&fixture, "etc", cases[i].file);
      fixture_write (&fixture, "etc", cases[i].file, cases[i].content);
      g_assert_null (sbx_settings_load (fixture.root, NULL, &error));
      g_assert_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE);
      assert_holds (error->message, path);
      assert_holds (error->message, cases[i].part);
      fixture_clear (&fixture);
    }
}

static void
test_equal_names (void)
{
  Fixture fixture;
  g_autoptr (GError) error = NULL;

  fixture_init (&fixture);
  fixture_write (&fixture, "etc", "tools.d/a.json", "{\"name\":\"same\"," SPEC "}");
  fixture_write (&fixture, "vendor", "tools.d/b.json", "{\"name\":\"same\"," SPEC "}");
  g_assert_null (sbx_settings_load (fixture.root, NULL, &error));
  assert_holds (error->message, "a.json");
  assert_holds (error->message, "b.json");
  fixture_clear (&fixture);
}

/* 124 tools fit beside the worker's own, 125 do not; nor does too much to say about them. */
static void
test_totals (void)
{
  Fixture fixture;
  g_autofree char *filler = g_strnfill (30000, 'x');
  g_autofree char *long_tool =
    g_strdup_printf ("{\"name\":\"a\",\"description\":\"%s\",\"parameters\":{}}", filler);
  g_autoptr (GError) error = NULL;

  fixture_init (&fixture);
  for (guint i = 0; i < 125; i++)
    {
      g_autofree char *name = g_strdup_printf ("tools.d/t%u.json", i);
      g_autofree char *content =
        g_strdup_printf ("{\"name\":\"t%u\",\"description\":\"\",\"parameters\":{}}", i);
      g_autoptr (SbxSettings) settings = NULL;

      fixture_write (&fixture, "etc", name, content);
      if (i == 123)
        {
          settings = sbx_settings_load (fixture.root, NULL, &error);
          g_assert_no_error (error);
        }
    }
  g_assert_null (sbx_settings_load (fixture.root, NULL, &error));
  assert_holds (error->message, "124");
  g_clear_error (&error);
  fixture_clear (&fixture);

  fixture_init (&fixture);
  fixture_write (&fixture, "etc", "tools.d/a.json", long_tool);
  g_assert_null (sbx_settings_load (fixture.root, NULL, &error));
  assert_holds (error->message, "32768");
  fixture_clear (&fixture);
}

/* As deep as fits into a turn, and one more. */
static void
test_deep_schema (void)
{
  for (guint depth = 27; depth <= 28; depth++)
    {
      Fixture fixture;
      g_autoptr (GString) file = g_string_new ("{\"name\":\"a\",\"description\":\"\",\"parameters\":");
      g_autoptr (SbxSettings) settings = NULL;
      g_autoptr (GError) error = NULL;

      for (guint i = 1; i < depth; i++)
        g_string_append (file, "{\"not\":");
      g_string_append (file, "{}");
      for (guint i = 1; i < depth; i++)
        g_string_append_c (file, '}');
      g_string_append_c (file, '}');
      fixture_init (&fixture);
      fixture_write (&fixture, "etc", "tools.d/a.json", file->str);
      settings = sbx_settings_load (fixture.root, NULL, &error);
      g_assert_cmpint (settings != NULL, ==, depth == 27);
      if (settings == NULL)
        assert_holds (error->message, "nested at most 27 deep");
      fixture_clear (&fixture);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/config/settings/tools", test_tools);
  g_test_add_func ("/config/settings/bad-files", test_bad_files);
  g_test_add_func ("/config/settings/equal-names", test_equal_names);
  g_test_add_func ("/config/settings/totals", test_totals);
  g_test_add_func ("/config/settings/deep-schema", test_deep_schema);
  return g_test_run ();
}
