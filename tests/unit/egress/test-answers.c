/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What comes back: keys in it, key files, event streams, answers. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <glib/gstdio.h>

#include "egress/answer.h"
#include "egress/credential.h"
#include "egress/reflection.h"
#include "egress/sse.h"

#define KEY "host-secret-4f9c2a7e/+="

static gboolean
finds (const SbxReflection *reflection, const char *text)
{
  return sbx_reflection_finds (reflection, text, strlen (text));
}

static void
test_reflection (void)
{
  static const char *const hits[] = {
    KEY,
    "x" KEY "y",
    "host-secret-4f9c2a7e%2F%2B%3D",
    "aG9zdC1zZWNyZXQtNGY5YzJhN2UvKz0=",
    "aG9zdC1zZWNyZXQtNGY5YzJhN2UvKz0",
    "686f73742d7365637265742d34663963326137652f2b3d",
    "686F73742D7365637265742D34663963326137652F2B3D",
    "hhost-secret-4f9c2a7host-secret-4f9c2a7e/+=",
  };
  static const char *const misses[] = {
    "",
    "h",
    "host-secret-4f9c2a7e/+",
    "ost-secret-4f9c2a7e/+=",
    "Host-secret-4f9c2a7e/+=",
    "host-secret-4f9c2a7e%2f%2b%3d",
    "host-secret- 4f9c2a7e/+=",
    "aG9zdC1zZWNyZXQtNGY5YzJhN2UvKz",
    "686F73742d7365637265742d34663963326137652f2b3d",
  };
  g_autoptr (SbxReflection) reflection = sbx_reflection_new ();
  g_autoptr (SbxReflection) empty = sbx_reflection_new ();
  g_autoptr (SbxSecret) key = sbx_secret_new (KEY, strlen (KEY));
  g_autofree char *large = g_strnfill (1 << 20, 'h');

  sbx_reflection_add (reflection, key);
  for (gsize i = 0; i < G_N_ELEMENTS (hits); i++)
    {
      g_assert_true (finds (reflection, hits[i]));
      g_assert_false (finds (empty, hits[i]));
    }
  for (gsize i = 0; i < G_N_ELEMENTS (misses); i++)
    g_assert_false (finds (reflection, misses[i]));
  g_assert_false (finds (reflection, large));
  memcpy (large + (1 << 20) - strlen (KEY), KEY, strlen (KEY));
  g_assert_true (finds (reflection, large));
  g_assert_true (sbx_reflection_finds (reflection, "a\0" KEY, 2 + strlen (KEY)));
}

static void
test_answers (void)
{
  static const struct {
    const char *text;
    SbxFailure failure;
    const char *json;
    guint prompt_tokens;
  } cases[] = {
    { " \n\r\n{\"a\": 1}\n", SBX_FAILURE_NONE, "{\"a\":1}", 0 },
    { "{\"a\":1,\"a\":2}", SBX_FAILURE_NONE, "{\"a\":2}", 0 },
    { "\"\\u0000\\/\"", SBX_FAILURE_NONE, "\"\\u0000/\"", 0 },
    { "null", SBX_FAILURE_NONE, "null", 0 },
    { "{\"usage\":{\"prompt_tokens\":5}}", SBX_FAILURE_NONE, "{\"usage\":{\"prompt_tokens\":5}}", 5 },
    { "{\"usage\":{\"prompt_tokens\":-5}}", SBX_FAILURE_NONE, "{\"usage\":{\"prompt_tokens\":-5}}", 0 },
    { "{\"usage\":[]}", SBX_FAILURE_NONE, "{\"usage\":[]}", 0 },
    { "", SBX_FAILURE_MODEL_ANSWER, NULL, 0 },
    { "{} {}", SBX_FAILURE_MODEL_ANSWER, NULL, 0 },
    { "data: {}", SBX_FAILURE_MODEL_ANSWER, NULL, 0 },
    { "{\"a\":[\"host-secret-4f9c2a7e\\/+=\"]}", SBX_FAILURE_KEY_REFLECTED, NULL, 0 },
    { "{\"host-secret-4f9c2a7e\\u002f+=\":1}", SBX_FAILURE_KEY_REFLECTED, NULL, 0 },
    { "\"host-secret-4f9c2a7e/+\"", SBX_FAILURE_NONE, "\"host-secret-4f9c2a7e/+\"", 0 },
  };
  g_autoptr (SbxReflection) reflection = sbx_reflection_new ();
  g_autoptr (SbxSecret) key = sbx_secret_new (KEY, strlen (KEY));

  sbx_reflection_add (reflection, key);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbxAnswer answer = { 0 };

      g_test_message ("%s", cases[i].text);
      g_assert_cmpint (sbx_answer_read (cases[i].text, strlen (cases[i].text), reflection, &answer), ==,
                       cases[i].failure);
      if (cases[i].json != NULL)
        g_assert_cmpmem (g_bytes_get_data (answer.json, NULL), g_bytes_get_size (answer.json), cases[i].json,
                         strlen (cases[i].json));
      else
        g_assert_null (answer.json);
      g_assert_cmpuint (answer.prompt_tokens, ==, cases[i].prompt_tokens);
      g_clear_pointer (&answer.json, g_bytes_unref);
    }
}

static gboolean
on_event (const char *data, gsize n_bytes, gpointer user_data)
{
  GString *seen = user_data;

  g_string_append_len (seen, data, (gssize) n_bytes);
  g_string_append_c (seen, '|');
  return strcmp (data, "stop") != 0;
}

static void
test_sse (void)
{
  static const struct {
    const char *stream;
    const char *seen;
  } cases[] = {
    { "data: a\n\n", "a|" },
    { "data:a\r\n\r\n", "a|" },
    { "data: a\r\rdata: b\n\n", "a|b|" },
    { "data:  a\n\n", " a|" },
    { "data: a\ndata: b\n\n", "a\nb|" },
    { "\xef\xbb\xbf"
      "data: a\n\n",
      "a|" },
    { ": comment\nid: 1\nevent: message\nretry: 5\ndata: a\n\n", "a|" },
    { "data:\n\n", "" },
    { "data\n\n", "" },
    { "database: a\n\n", "" },
    { "\n\n\n", "" },
    { "data: cut", "" },
    { "data: cut\n", "" },
    { "data: a\n\ndata: stop\n\ndata: b\n\n", "a|stop|" },
  };

  /* In one piece, and byte by byte. */
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gsize size = 1; size < 100; size += 98)
      {
        g_autoptr (GString) seen = g_string_new (NULL);
        g_autoptr (SbxSse) sse = sbx_sse_new (on_event, seen);
        gsize n_bytes = strlen (cases[i].stream);
        gboolean more = TRUE;

        for (gsize at = 0; at < n_bytes; at += size)
          more = sbx_sse_feed (sse, cases[i].stream + at, MIN (size, n_bytes - at));
        g_assert_cmpstr (seen->str, ==, cases[i].seen);
        g_assert_cmpint (more, ==, strstr (cases[i].stream, "stop") == NULL);
      }
}

static void
test_credential (void)
{
  static const struct {
    const char *content;
    const char *key; /* NULL: refused */
  } cases[] = {
    { "a-good-key", "a-good-key" },
    { "a-good-key\n", "a-good-key" },
    { "a-good-key\n\n", NULL },
    { "a-good-key\r\n", NULL },
    { "", NULL },
    { "\n", NULL },
    { "two\nlines-here", NULL },
    { "has a blank", NULL },
    { " leading-blank", NULL },
    { "seven77", NULL },
    { "eight888", "eight888" },
    { "caf\xc3\xa9-caf\xc3\xa9", NULL },
    { "with\x7f"
      "delete",
      NULL },
  };
  g_autofree char *directory = g_dir_make_tmp ("sbx-key-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (directory, "key", NULL);
  g_autofree char *link = g_build_filename (directory, "link", NULL);
  g_autoptr (SbxCredential) credential = sbx_credential_new (path);
  g_autoptr (SbxCredential) linked = sbx_credential_new (link);
  g_autoptr (GError) error = NULL;

  g_assert_null (sbx_credential_get (credential, &error));
  g_assert_error (error, SBX_CREDENTIAL_ERROR, SBX_CREDENTIAL_ERROR_UNREADABLE);
  g_clear_error (&error);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbxSecret *key;

      g_assert_true (g_file_set_contents (path, cases[i].content, -1, NULL));
      key = sbx_credential_get (credential, &error);
      g_test_message ("case %u: %s", (guint) i, error != NULL ? error->message : "fine");
      g_assert_cmpstr (key != NULL ? sbx_secret_peek (key, NULL) : NULL, ==, cases[i].key);
      g_assert_cmpint (error == NULL, ==, cases[i].key != NULL);
      if (error != NULL)
        g_assert_nonnull (strstr (error->message, path));
      if (error != NULL && strlen (cases[i].content) > 2)
        g_assert_null (strstr (error->message, cases[i].content));
      g_clear_error (&error);
    }

  g_assert_true (g_file_set_contents (path, "first-key-1", -1, NULL));
  g_assert_cmpstr (sbx_secret_peek (sbx_credential_get (credential, NULL), NULL), ==, "first-key-1");
  g_assert_true (g_file_set_contents (path, "second-key-2", -1, NULL));
  g_assert_cmpstr (sbx_secret_peek (sbx_credential_get (credential, NULL), NULL), ==, "second-key-2");
  g_assert_cmpstr (sbx_secret_peek (sbx_credential_previous (credential), NULL), ==, "first-key-1");
  g_assert_cmpint (g_chmod (path, 0604), ==, 0);
  g_assert_nonnull (sbx_credential_get (credential, NULL));
  g_assert_true (sbx_credential_is_exposed (credential));

  g_assert_cmpint (symlink (path, link), ==, 0);
  g_assert_null (sbx_credential_get (linked, &error));
  g_assert_nonnull (strstr (error->message, "it is a link"));
  g_assert_cmpint (unlink (link) + unlink (path) + rmdir (directory), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/egress/reflection", test_reflection);
  g_test_add_func ("/egress/answers", test_answers);
  g_test_add_func ("/egress/sse", test_sse);
  g_test_add_func ("/egress/credential", test_credential);
  return g_test_run ();
}
