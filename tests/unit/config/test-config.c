/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/config.h"

#include <string.h>

#include "fixture.h"

static void
assert_holds (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("\"%s\" is not in \"%s\"", part, text);
}

static void
test_defaults (void)
{
  Fixture fixture;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (SbxConfig) config = NULL;
  g_autoptr (GError) error = NULL;

  fixture_init (&fixture);
  config = sbx_config_load (fixture.root, warnings, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (config->image, ==, "roundtable-sandbox-worker:latest");
  g_assert_cmpuint (config->memory_max_bytes, ==, 512ull << 20);
  g_assert_cmpfloat (config->cpus, ==, 1.0);
  g_assert_cmpuint (config->deadline_usec, ==, 120ull * G_USEC_PER_SEC);
  g_assert_cmpuint (config->calls, ==, 48);
  g_assert_cmpuint (config->speaker_turns, ==, 10);
  g_assert_cmpuint (config->speaker_window_usec, ==, 60ull * G_USEC_PER_SEC);
  g_assert_false (config->require_principal);
  g_assert_cmpstr (config->model->auth_prefix, ==, "Bearer");
  g_assert_cmpstr (config->extra_body, ==, "{}");
  g_assert_nonnull (config->initial_channels);
  g_assert_cmpstr (config->time_zone, ==, "UTC");
  g_assert_cmpuint (warnings->len, ==, 1); /* no URL */
  fixture_clear (&fixture);
}

/* /etc over /run over /usr/lib, drop-ins by name, masks. */
static void
test_precedence (void)
{
  Fixture fixture;
  g_autoptr (SbxConfig) config = NULL;
  g_autoptr (GError) error = NULL;

  fixture_init (&fixture);
  fixture_write (&fixture, "vendor", "sandboxd.conf",
                 "[Turns]\nCalls=1\nMaxTurns=1\nMaxQueued=1\nMinFree=1M\n");
  fixture_write (&fixture, "run", "sandboxd.conf", "[Turns]\nCalls=2\nMaxTurns=2\nMaxQueued=2\n");
  fixture_write (&fixture, "vendor", "sandboxd.conf.d/10-a.conf", "[Turns]\nCalls=3\n");
  fixture_write (&fixture, "etc", "sandboxd.conf.d/10-a.conf", "[Turns]\nCalls=4\n");
  fixture_write (&fixture, "run", "sandboxd.conf.d/20-b.conf", "[Turns]\nMaxTurns=5\n");
  fixture_write (&fixture, "vendor", "sandboxd.conf.d/30-empty.conf", "[Turns]\nMaxQueued=6\n");
  fixture_write (&fixture, "etc", "sandboxd.conf.d/30-empty.conf", "");
  fixture_write (&fixture, "vendor", "sandboxd.conf.d/40-null.conf", "[Turns]\nMaxQueued=7\n");
  fixture_link (&fixture, "run", "sandboxd.conf.d/40-null.conf", "/dev/null");
  fixture_write (&fixture, "etc", "sandboxd.conf.d/50-other.txt", "[Turns]\nMaxQueued=8\n");
  fixture_write (&fixture, "etc", "sandboxd.conf.d/.60-hidden.conf", "[Turns]\nMaxQueued=9\n");
  config = sbx_config_load (fixture.root, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (config->calls, ==, 4);
  g_assert_cmpuint (config->max_turns, ==, 5);
  g_assert_cmpuint (config->max_queued, ==, 2);
  g_assert_cmpuint (config->min_free_bytes, ==,
                    64 * 1024 * 1024); /* the vendor's file is hidden whole by /run's */
  fixture_clear (&fixture);
}

static void
test_values (void)
{
  Fixture fixture;
  g_autoptr (SbxConfig) config = NULL;
  g_autoptr (GError) error = NULL;

  fixture_init (&fixture);
  fixture_write (
    &fixture, "etc", "sandboxd.conf",
    "[Worker]\nMemoryMax=1G\nCPUs=0.5\nPrompt=Two\\nlines.\n[Turns]\nDeadline=2min\nSpeakerTurns=off\n"
    "RequirePrincipal=true\n[Channels]\nInitial=discord:1 discord:2;irc:#a\n[Model]\n"
    "URL=http://127.0.0.1:8080/v1\nPlainHTTP=yes\nName=m\nKeyFile=\nAuthPrefix=\nExtraBody={ \"a\" : [1] }\n"
    "KeptMembers=reasoning_content\n");
  config = sbx_config_load (fixture.root, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (config->memory_max_bytes, ==, 1ull << 30);
  g_assert_cmpfloat (config->cpus, ==, 0.5);
  g_assert_cmpstr (config->prompt, ==, "Two\nlines.");
  g_assert_cmpuint (config->deadline_usec, ==, 120ull * G_USEC_PER_SEC);
  g_assert_cmpuint (config->speaker_turns, ==, 0);
  g_assert_true (config->require_principal);
  g_assert_cmpuint (g_strv_length (config->initial_channels), ==, 3);
  g_assert_cmpstr (config->initial_channels[2], ==, "irc:#a");
  g_assert_cmpstr (config->model->key_file, ==, "");
  g_assert_cmpstr (config->extra_body, ==, "{\"a\":[1]}");
  g_assert_cmpstr (config->kept_members[0], ==, "reasoning_content");
  fixture_clear (&fixture);
}

static void
test_bad_values (void)
{
  static const struct {
    const char *group;
    const char *line;
    const char *right; /* part of the message */
  } cases[] = {
    { "Worker", "Image=", "without blanks" },
    { "Worker", "Image=-x", "without blanks" },
    { "Worker", "User=root", "other than root" },
    { "Worker", "MemoryMax=63M", "64M" },
    { "Worker", "MemoryMax=lots", "64M" },
    { "Worker", "CPUs=0", "above 0" },
    { "Worker", "CPUs=nan", "above 0" },
    { "Worker", "CPUs=0x1", "above 0" },
    { "Worker", "PidsMax=7", "from 8" },
    { "Worker", "TimeZone=Europe/Atlantis", "IANA" },
    { "Worker", "TimeZone=../../etc/passwd", "IANA" },
    { "Worker", "TimeZone=", "IANA" },
    { "Turns", "Deadline=999ms", "1s to 600s" },
    { "Turns", "Deadline=601s", "1s to 600s" },
    { "Turns", "Calls=0", "1 to 1000" },
    { "Turns", "Calls=1001", "1 to 1000" },
    { "Turns", "Calls=many", "1 to 1000" },
    { "Turns", "Compaction=perhaps", "yes or no" },
    { "Turns", "SpeakerTurns=10", "10/1min" },
    { "Channels", "Initial=nope", "discord:1234" },
    { "Model", "OutputTokens=32769", "32768" },
    { "Model", "OutputTokenField=tokens", "max_completion_tokens" },
    { "Model", "AuthHeader=Host", "header" },
    { "Model", "AuthHeader=X Y", "header" },
    { "Model", "KeyFile=keys/model", "absolute" },
    { "Model", "CAFile=/etc/../ca", "absolute" },
    { "Model", "ExtraBody=[]", "JSON object" },
    { "Model", "ExtraBody={\"model\":1}", "JSON object" },
    { "Model", "ExtraBody={\"stream\":true}", "JSON object" },
    { "Model", "ExtraBody={", "JSON object" },
    { "Model", "KeptMembers=content", "16 names" },
    { "Model", "KeptMembers=extra_content function", "none of" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Fixture fixture;
      g_autofree char *content = g_strdup_printf ("[%s]\n%s\n", cases[i].group, cases[i].line);
      g_autofree char *path = NULL;
      g_autoptr (GError) error = NULL;

      fixture_init (&fixture);
      path = fixture_path (&fixture, "etc", "sandboxd.conf.d/a.conf");
      fixture_write (&fixture, "etc", "sandboxd.conf.d/a.conf", content);
      g_assert_null (sbx_config_load (fixture.root, NULL, &error));
      g_assert_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE);
      assert_holds (error->message, path);
      assert_holds (error->message, cases[i].group);
      assert_holds (error->message, cases[i].right);
      if (strstr (cases[i].line, "ExtraBody") == NULL)
        assert_holds (error->message, cases[i].line);
      fixture_clear (&fixture);
    }
}

static void
test_long_prompt (void)
{
  Fixture fixture;
  g_autofree char *long_text = g_strnfill (8191, 'a');
  g_autofree char *content = g_strdup_printf ("[Worker]\nPrompt=%s\n", long_text);
  g_autoptr (SbxConfig) config = NULL;
  g_autoptr (GError) error = NULL;

  fixture_init (&fixture);
  fixture_write (&fixture, "etc", "sandboxd.conf", content);
  g_assert_null (sbx_config_load (fixture.root, NULL, &error));
  assert_holds (error->message, "8,192");
  g_clear_error (&error);
  content[strlen (content) - 2] = '\n';
  fixture_write (&fixture, "etc", "sandboxd.conf", content);
  config = sbx_config_load (fixture.root, NULL, &error);
  g_assert_no_error (error);
  fixture_clear (&fixture);
}

static void
test_urls (void)
{
  static const struct {
    const char *url;
    gboolean plain;
    gboolean fine;
  } cases[] = {
    { "https://api.example.com/v1/chat/completions", FALSE, TRUE },
    { "https://api.example.com:8443/x?api-version=1", FALSE, TRUE },
    { "https://[2001:db8::1]/x", FALSE, TRUE },
    { "http://127.0.0.1:11434/v1", TRUE, TRUE },
    { "http://[::1]:1/", TRUE, TRUE },
    { "http://localhost/", TRUE, TRUE },
    { "http://127.0.0.1/", FALSE, FALSE },
    { "http://10.0.0.1/", TRUE, FALSE },
    { "http://localhost.example.com/", TRUE, FALSE },
    { "http://2130706433/", TRUE, FALSE },
    { "https://user@example.com/", FALSE, FALSE },
    { "https://user:secret@example.com/", FALSE, FALSE },
    { "https://@example.com/", FALSE, FALSE },
    { "https://example.com/#a", FALSE, FALSE },
    { "https://example.com/#", FALSE, FALSE },
    { "https:///x", FALSE, FALSE },
    { "https:x", FALSE, FALSE },
    { "ftp://example.com/", FALSE, FALSE },
    { "file:///etc/passwd", TRUE, FALSE },
    { "example.com", FALSE, FALSE },
    { "https://exa mple.com/", FALSE, FALSE },
    { "https://example.com\\@evil/", FALSE, FALSE },
    { "https://ex%61mple.com/", FALSE, FALSE },
    { "", FALSE, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *fault = sbx_endpoint_url_fault (cases[i].url, cases[i].plain);

      g_test_message ("%s: %s", cases[i].url, fault != NULL ? fault : "fine");
      g_assert_cmpint (fault == NULL, ==, cases[i].fine);
      g_assert_true (fault == NULL || strstr (fault, "secret") == NULL);
    }
  g_assert_true (sbx_endpoint_names_address ("https://[::1]/"));
  g_assert_false (sbx_endpoint_names_address ("https://localhost/"));
}

static void
test_url_in_file (void)
{
  Fixture fixture;
  g_autoptr (GError) error = NULL;

  fixture_init (&fixture);
  fixture_write (&fixture, "etc", "sandboxd.conf",
                 "[Model]\nName=m\nURL=https://me:hunter2@example.com/?key=hunter2\n");
  g_assert_null (sbx_config_load (fixture.root, NULL, &error));
  assert_holds (error->message, "[Model] URL=");
  g_assert_null (strstr (error->message, "hunter2"));
  g_clear_error (&error);
  fixture_write (&fixture, "etc", "sandboxd.conf", "[Model]\nURL=https://example.com/\n");
  g_assert_null (sbx_config_load (fixture.root, NULL, &error));
  assert_holds (error->message, "Name=");
  fixture_clear (&fixture);
}

static void
test_warnings (void)
{
  Fixture fixture;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (SbxConfig) config = NULL;

  fixture_init (&fixture);
  fixture_write (&fixture, "etc", "sandboxd.conf",
                 "[Worker]\nMemroyMax=1G\nCalls=3\nBananas=1\n[Turn]\nCalls=3\n[Model]\nName=m\nURL=https://"
                 "example.com/\n[MODEL]\nName=n\n");
  config = sbx_config_load (fixture.root, warnings, NULL);
  g_assert_nonnull (config);
  g_assert_cmpuint (warnings->len, ==, 5);
  assert_holds (g_ptr_array_index (warnings, 0), "did you mean MemoryMax= in [Worker]");
  assert_holds (g_ptr_array_index (warnings, 1), "did you mean Calls= in [Turns]");
  assert_holds (g_ptr_array_index (warnings, 2), "ignored");
  assert_holds (g_ptr_array_index (warnings, 3), "did you mean [Turns]");
  assert_holds (g_ptr_array_index (warnings, 4), "did you mean [Model]");
  fixture_clear (&fixture);
}

static void
test_broken_files (void)
{
  Fixture fixture;
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;

  fixture_init (&fixture);
  fixture_write (&fixture, "etc", "sandboxd.conf", "Calls=3\n");
  g_assert_null (sbx_config_load (fixture.root, NULL, &error));
  g_assert_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE);
  g_clear_error (&error);
  path = fixture_path (&fixture, "etc", "sandboxd.conf.d/a.conf");
  g_assert_cmpint (g_mkdir_with_parents (path, 0755), ==, 0);
  fixture_write (&fixture, "etc", "sandboxd.conf", "\n");
  g_assert_null (sbx_config_load (fixture.root, NULL, &error));
  g_assert_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_READ);
  assert_holds (error->message, path);
  fixture_clear (&fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/config/defaults", test_defaults);
  g_test_add_func ("/config/precedence", test_precedence);
  g_test_add_func ("/config/values", test_values);
  g_test_add_func ("/config/bad-values", test_bad_values);
  g_test_add_func ("/config/long-prompt", test_long_prompt);
  g_test_add_func ("/config/urls", test_urls);
  g_test_add_func ("/config/url-in-file", test_url_in_file);
  g_test_add_func ("/config/warnings", test_warnings);
  g_test_add_func ("/config/broken-files", test_broken_files);
  return g_test_run ();
}
