/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/image-judge.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>

#define HEAD(path, more, n_bytes)                                                                            \
  "POST " path " HTTP/1.1\r\nhost: broker\r\nauthorization: Bearer sandbox-dummy-key\r\n" more               \
  "content-length: " n_bytes "\r\n\r\n"
#define GOOD "{\"messages\":[]}"
#define CALL                                                                                                 \
  "{\"messages\":[],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"host_selftest\","             \
  "\"description\":\"\",\"parameters\":{}}}]}"

/* Whole requests, and what must stand in the fault; NULL: none. */
static const struct {
  const char *request;
  const char *status;
  const char *fault;
} cases[] = {
  { HEAD ("/model", "", "15") GOOD, "200", NULL },
  { HEAD ("/tools/selftest", "", "2") "{}", "200", NULL },
  { HEAD ("/tools/other", "", "2") "{}", "404", "/tools/other" },
  { HEAD ("/model?x", "", "15") GOOD, "404", "status 404" },
  { HEAD ("/model", "x-more: 1\r\n", "15") GOOD, "403", "header" },
  { HEAD ("/model", "", "2") "{}", "400", "status 400" },
  { HEAD ("/model", "", "1") "{", "502", "not JSON" },
  { HEAD ("/model", "", "999999999") "{", "502", "too large" },
  { "GET  /model HTTP/1.0\n\n", "400", "plain HTTP/1.1" },
};

static void
read_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  *(gssize *) user_data = g_input_stream_read_finish (G_INPUT_STREAM (source), result, NULL);
}

/* What the judge answers; the peer's side ends with it. */
static char *
ask (const char *path, const char *request)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
  g_autoptr (GSocketConnection) connection =
    g_socket_client_connect (client, G_SOCKET_CONNECTABLE (address), NULL, NULL);
  g_autoptr (GString) answer = g_string_new (NULL);
  char piece[4096];
  gssize n = -1;

  g_assert_nonnull (connection);
  g_assert_true (g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), request,
                                            strlen (request), NULL, NULL, NULL));
  do
    {
      n = -2;
      g_input_stream_read_async (g_io_stream_get_input_stream (G_IO_STREAM (connection)), piece, sizeof piece,
                                 G_PRIORITY_DEFAULT, NULL, read_done, &n);
      while (n == -2)
        g_main_context_iteration (NULL, TRUE);
      if (n > 0)
        g_string_append_len (answer, piece, n);
    }
  while (n > 0);
  return g_string_free (g_steal_pointer (&answer), FALSE);
}

static void
test_requests (void)
{
  g_autofree char *dir = g_dir_make_tmp ("sbx-judge-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, "b.sock", NULL);
  g_autoptr (SbxJudge) judge = sbx_judge_new (path, NULL);

  g_assert_nonnull (judge);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *answer = NULL;
      g_autofree char *status = g_strconcat ("HTTP/1.1 ", cases[i].status, NULL);

      sbx_judge_begin (judge, FALSE);
      answer = ask (path, cases[i].request);
      g_assert_true (g_str_has_prefix (answer, status));
      if (cases[i].fault == NULL)
        g_assert_cmpstr (sbx_judge_fault (judge), ==, NULL);
      else
        g_assert_nonnull (strstr (sbx_judge_fault (judge), cases[i].fault));
      g_assert_cmpuint (sbx_judge_n_connections (judge), ==, 1);
    }
  sbx_judge_begin (judge, TRUE);
  g_free (ask (path, cases[0].request));
  g_assert_cmpuint (sbx_judge_n_model_calls (judge), ==, 1);
  g_assert_null (sbx_judge_fault (judge)); /* the model's failing is no fault of the worker's */
  (void) g_unlink (path);
  (void) g_rmdir (dir);
}

static void
test_script (void)
{
  gboolean asked = FALSE;
  g_autofree char *without = sbx_judge_answer (GOOD, strlen (GOOD), &asked);
  g_autofree char *call = NULL;
  g_autofree char *text = NULL;

  g_assert_nonnull (strstr (without, SBX_JUDGE_TEXT));
  g_assert_false (asked);
  call = sbx_judge_answer (CALL, strlen (CALL), &asked);
  g_assert_nonnull (strstr (call, "\"name\":\"host_selftest\""));
  g_assert_true (asked);
  text = sbx_judge_answer (CALL, strlen (CALL), &asked);
  g_assert_nonnull (strstr (text, SBX_JUDGE_TEXT));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ctl/judge/requests", test_requests);
  g_test_add_func ("/ctl/judge/script", test_script);
  return g_test_run ();
}
