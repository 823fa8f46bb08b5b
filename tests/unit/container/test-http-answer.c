/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/http-answer.h"

#include <string.h>

typedef struct {
  const char *name;
  const char *bytes;
  SbxHttpVerdict fed;   /* when all bytes were fed */
  SbxHttpVerdict ended; /* when the connection ended after them; as `fed` where that is final */
  guint status;
  const char *body;
  gsize left; /* bytes that do not belong to the answer */
} Case;

static const Case cases[] = {
  { "length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", SBX_HTTP_DONE, SBX_HTTP_DONE, 200, "abc",
    0 },
  { "bytes-behind", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcXY", SBX_HTTP_DONE, SBX_HTTP_DONE, 200,
    "abc", 2 },
  { "no-body", "HTTP/1.1 204 No Content\r\n\r\n", SBX_HTTP_DONE, SBX_HTTP_DONE, 204, "", 0 },
  { "not-modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", SBX_HTTP_DONE, SBX_HTTP_DONE,
    304, "", 0 },
  { "zero", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", SBX_HTTP_DONE, SBX_HTTP_DONE, 200, "", 0 },
  { "chunks",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
    SBX_HTTP_DONE, SBX_HTTP_DONE, 200, "abc0123456789", 0 },
  { "trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n",
    SBX_HTTP_DONE, SBX_HTTP_DONE, 200, "a", 0 },
  { "to-end", "HTTP/1.0 200 OK\r\n\r\nabc", SBX_HTTP_MORE, SBX_HTTP_DONE, 200, "abc", 0 },
  { "interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
    SBX_HTTP_DONE, SBX_HTTP_DONE, 201, "x", 0 },
  { "upgrade", "HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\nguest", SBX_HTTP_DONE, SBX_HTTP_DONE, 101, "",
    5 },
  { "cut-head", "HTTP/1.1 200 OK\r\nContent-Le", SBX_HTTP_MORE, SBX_HTTP_BAD, 200, NULL, 0 },
  { "cut-body", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", SBX_HTTP_MORE, SBX_HTTP_BAD, 200, NULL,
    0 },
  { "cut-chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", SBX_HTTP_MORE,
    SBX_HTTP_BAD, 200, NULL, 0 },
  { "nothing", "", SBX_HTTP_MORE, SBX_HTTP_BAD, 0, NULL, 0 },
  { "garbage", "SSH-2.0-OpenSSH\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD, 0, NULL, 0 },
  { "status-kind", "HTTP/1.1 2x0 OK\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD, 0, NULL, 0 },
  { "status-range", "HTTP/1.1 700 OK\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD, 0, NULL, 0 },
  { "length-kind", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD, 0, NULL, 0 },
  { "length-over", "HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD, 0, NULL, 0 },
  { "chunk-over", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n21\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD,
    0, NULL, 0 },
  { "chunk-kind", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD,
    0, NULL, 0 },
  { "chunk-end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", SBX_HTTP_BAD,
    SBX_HTTP_BAD, 0, NULL, 0 },
  { "coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD, 0, NULL, 0 },
  { "no-colon", "HTTP/1.1 200 OK\r\nnothing\r\n", SBX_HTTP_BAD, SBX_HTTP_BAD, 0, NULL, 0 },
  { "to-end-over", "HTTP/1.0 200 OK\r\n\r\n012345678901234567890123456789012", SBX_HTTP_BAD, SBX_HTTP_BAD, 0,
    NULL, 0 },
};

/* Feeds in pieces of that size. */
static void
run_case (const Case *c, gsize piece)
{
  g_autoptr (SbxHttpAnswer) answer = sbx_http_answer_new (32);
  SbxHttpVerdict verdict = SBX_HTTP_MORE;
  gsize n_bytes = strlen (c->bytes);
  gsize at = 0;

  while (at < n_bytes && verdict == SBX_HTTP_MORE)
    {
      gsize used = 0;

      verdict = sbx_http_answer_feed (answer, c->bytes + at, MIN (piece, n_bytes - at), &used);
      g_assert_cmpuint (used, >, 0);
      at += used;
    }
  g_assert_cmpint (verdict, ==, c->fed);
  if (verdict == SBX_HTTP_MORE)
    verdict = sbx_http_answer_end (answer);
  g_assert_cmpint (verdict, ==, c->ended);
  if (verdict == SBX_HTTP_DONE)
    {
      g_autoptr (GBytes) body = sbx_http_answer_steal_body (answer);

      g_assert_cmpuint (sbx_http_answer_status (answer), ==, c->status);
      g_assert_cmpmem (g_bytes_get_data (body, NULL), g_bytes_get_size (body), c->body, strlen (c->body));
      g_assert_cmpuint (n_bytes - at, ==, c->left);
    }
}

static void
test_case (gconstpointer data)
{
  run_case (data, G_MAXSIZE / 2);
  run_case (data, 1);
  run_case (data, 7);
}

static void
test_head_bound (void)
{
  g_autoptr (SbxHttpAnswer) answer = sbx_http_answer_new (32);
  g_autofree char *line = g_strnfill (1000, 'a');
  SbxHttpVerdict verdict = SBX_HTTP_MORE;
  gsize fed = 0;
  gsize used = 0;

  verdict = sbx_http_answer_feed (answer, "HTTP/1.1 200 OK\r\nX: ", 20, &used);
  while (verdict == SBX_HTTP_MORE && fed < 10 * SBX_HTTP_MAX_HEAD)
    {
      verdict = sbx_http_answer_feed (answer, line, 1000, &used);
      fed += used;
    }
  g_assert_cmpint (verdict, ==, SBX_HTTP_BAD);
  g_assert_cmpuint (fed, <=, SBX_HTTP_MAX_HEAD + 1000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/container/http-answer/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/container/http-answer/head-bound", test_head_bound);
  return g_test_run ();
}
