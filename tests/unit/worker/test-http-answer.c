/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>

#include "http-answer.h"

static const struct {
  const char *data;
  gboolean at_end;
  SbxHttpAnswerVerdict verdict;
  guint status;
  const char *body;
} cases[] = {
  { "", FALSE, SBX_HTTP_ANSWER_MORE, 0, NULL },
  { "", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\n", FALSE, SBX_HTTP_ANSWER_MORE, 0, NULL },
  { "HTTP/1.1 200 OK\r\n", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", FALSE, SBX_HTTP_ANSWER_MORE, 0, NULL },
  { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\n{}", FALSE, SBX_HTTP_ANSWER_DONE, 200, "{}" },
  { "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}more", FALSE, SBX_HTTP_ANSWER_DONE, 200, "{}" },
  { "HTTP/1.1 200\r\n\r\n{}", TRUE, SBX_HTTP_ANSWER_DONE, 200, "{}" },
  { "HTTP/1.0 410 Gone\r\n\r\n{}", FALSE, SBX_HTTP_ANSWER_MORE, 0, NULL },
  { "HTTP/1.1 204 No\r\n\r\n", FALSE, SBX_HTTP_ANSWER_DONE, 204, "" },
  { "\r\n\r\n", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/2 200\r\n\r\n", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 2000 OK\r\n\r\n", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}", TRUE, SBX_HTTP_ANSWER_BAD, 0,
    NULL },
  { "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n{}", FALSE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n", FALSE,
    SBX_HTTP_ANSWER_DONE, 200, "{}" },
  { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n", FALSE, SBX_HTTP_ANSWER_MORE, 0, NULL },
  { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n", TRUE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n{\r\n", FALSE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n", FALSE, SBX_HTTP_ANSWER_BAD,
    0, NULL },
  { "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n", FALSE, SBX_HTTP_ANSWER_BAD, 0, NULL },
  { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n{}", FALSE,
    SBX_HTTP_ANSWER_BAD, 0, NULL },
};

static void
test_table (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) data = g_byte_array_new ();
      g_autoptr (GByteArray) body = NULL;
      guint status = 0;

      g_byte_array_append (data, (const guint8 *) cases[i].data, (guint) strlen (cases[i].data));
      g_test_message ("case %u", i);
      g_assert_cmpint (sbx_http_answer_read (data, cases[i].at_end, 1000, &status, &body), ==,
                       cases[i].verdict);
      if (cases[i].verdict == SBX_HTTP_ANSWER_DONE)
        {
          g_assert_cmpuint (status, ==, cases[i].status);
          g_assert_cmpmem (body->data, body->len, cases[i].body, strlen (cases[i].body));
        }
      else
        {
          g_assert_null (body);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/http-answer/table", test_table);
  return g_test_run ();
}
