/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/http-head.h"

#include <string.h>

#define LINE     "POST /model HTTP/1.1\r\n"
#define HOST     "host: broker\r\n"
#define END      "\r\n"
#define FIELD(f) LINE HOST f "\r\n" END
#define WITH(f)  f, sizeof f - 1
#define SPREAD(f)                                                                                            \
  {                                                                                                          \
    f, WITH (FIELD (f))                                                                                      \
  }

typedef struct {
  const char *what;
  const char *data;
  gsize n_bytes;
} Case;

static const Case fine[] = {
  { "plain", WITH (LINE HOST END) },
  { "length", WITH (FIELD ("content-length: 15")) },
  { "length 0", WITH (FIELD ("Content-Length: 0")) },
  { "no blank before the value", WITH (FIELD ("accept:a")) },
  { "blanks around the value", WITH (FIELD ("accept: \t a \t ")) },
  { "tab in a value", WITH (FIELD ("accept: a\tb")) },
  { "empty value", WITH (FIELD ("accept:")) },
  { "odd method", WITH ("M-SEARCH / HTTP/1.1\r\n" HOST END) },
  { "odd target", WITH ("POST /?a#b%00\\\" HTTP/1.1\r\n" HOST END) },
  { "odd name", WITH (FIELD ("!#$%&'*+-.^_`|~09: a")) },
  { "chunked without a length", WITH (FIELD ("transfer-encoding: chunked")) },
};

/* The cases in which HTTP libraries were seen to disagree, and what a guest might try beside them. */
static const Case bad[] = {
  { "empty", WITH (END END) },
  { "empty line first", WITH (END LINE HOST END) },
  { "no host", WITH (LINE END) },
  { "host twice", WITH (LINE HOST HOST END) },
  { "host twice, different", WITH (LINE HOST "Host: other\r\n" END) },
  { "lines end with LF", WITH ("POST /model HTTP/1.1\nhost: broker\n\n") },
  { "LF in a value", WITH (LINE HOST "accept: a\nx: b\r\n" END) },
  { "CR in a value", WITH (LINE HOST "accept: a\rb\r\n" END) },
  { "CR CR LF", WITH (LINE HOST "accept: a\r\r\n" END) },
  { "NUL in a value", WITH (LINE HOST "accept: a\0b\r\n" END) },
  { "NUL in a name", WITH (LINE HOST "acc\0ept: a\r\n" END) },
  { "NUL in the target", WITH ("POST /mo\0del HTTP/1.1\r\n" HOST END) },
  { "control byte in a value", WITH (LINE HOST "accept: a\1b\r\n" END) },
  { "DEL in a value", WITH (LINE HOST "accept: a\177b\r\n" END) },
  { "byte over 127 in a value", WITH (LINE HOST "accept: a\351b\r\n" END) },
  { "byte over 127 in a name", WITH (LINE HOST "acc\351pt: a\r\n" END) },
  SPREAD ("accept : a"),
  SPREAD ("accept\t: a"),
  SPREAD ("acc ept: a"),
  SPREAD (": a"),
  SPREAD ("accept"),
  SPREAD ("(accept): a"),
  SPREAD (" folded"),
  SPREAD ("\tfolded"),
  SPREAD ("accept: a\r\n b"),
  SPREAD ("content-length: 3\r\ncontent-length: 3"),
  SPREAD ("content-length: 3\r\ncontent-length: 4"),
  SPREAD ("content-length: 3\r\ntransfer-encoding: chunked"),
  SPREAD ("transfer-encoding: chunked\r\ncontent-length: 3"),
  SPREAD ("transfer-encoding: identity\r\ncontent-length: 3"),
  SPREAD ("transfer-encoding: chunked\r\ntransfer-encoding: chunked"),
  SPREAD ("content-length:"),
  SPREAD ("content-length: +3"),
  SPREAD ("content-length: -3"),
  SPREAD ("content-length: 0x3"),
  SPREAD ("content-length: 3.0"),
  SPREAD ("content-length: 1 5"),
  SPREAD ("content-length: 3, 3"),
  SPREAD ("content-length: 3,"),
  SPREAD ("content-length: \"3\""),
  SPREAD ("content-length: 03"),
  SPREAD ("content-length: 9999999999999999999"),
  { "HTTP/1.0", WITH ("POST /model HTTP/1.0\r\n" HOST END) },
  { "HTTP/1.2", WITH ("POST /model HTTP/1.2\r\n" HOST END) },
  { "HTTP/2.0", WITH ("PRI * HTTP/2.0\r\n\r\n") },
  { "no version", WITH ("POST /model\r\n" HOST END) },
  { "version in small letters", WITH ("POST /model http/1.1\r\n" HOST END) },
  { "blank behind the version", WITH ("POST /model HTTP/1.1 \r\n" HOST END) },
  { "four parts", WITH ("POST /model x HTTP/1.1\r\n" HOST END) },
  { "two blanks", WITH ("POST  /model HTTP/1.1\r\n" HOST END) },
  { "tabs", WITH ("POST\t/model\tHTTP/1.1\r\n" HOST END) },
  { "tab in the target", WITH ("POST /mo\tdel HTTP/1.1\r\n" HOST END) },
  { "no method", WITH (" /model HTTP/1.1\r\n" HOST END) },
  { "method with a colon", WITH ("PO:ST /model HTTP/1.1\r\n" HOST END) },
  { "no target", WITH ("POST  HTTP/1.1\r\n" HOST END) },
  { "absolute target", WITH ("POST http://broker/model HTTP/1.1\r\n" HOST END) },
  { "target without slash", WITH ("POST model HTTP/1.1\r\n" HOST END) },
  { "target *", WITH ("OPTIONS * HTTP/1.1\r\n" HOST END) },
  { "query only", WITH ("POST ?/model HTTP/1.1\r\n" HOST END) },
};

/* Reads data as it would come in pieces of step bytes. */
static SbxHttpVerdict
read_head (const char *data, gsize n_bytes, gsize step, SbxHttpHead *ret_head)
{
  gsize place = 0;
  SbxHttpVerdict verdict = SBX_HTTP_HEAD_MORE;

  for (gsize n = MIN (step, n_bytes); verdict == SBX_HTTP_HEAD_MORE; n = MIN (n + step, n_bytes))
    {
      verdict = sbx_http_head_find (data, n, &place);
      if (n == n_bytes)
        break;
    }
  return verdict == SBX_HTTP_HEAD_WHOLE ? sbx_http_head_parse (data, place, ret_head) : verdict;
}

static void
test_fine (void)
{
  SbxHttpHead head;

  for (gsize i = 0; i < G_N_ELEMENTS (fine); i++)
    for (gsize step = 1; step <= 1000; step *= 10)
      {
        g_test_message ("%s, by %zu", fine[i].what, step);
        g_assert_cmpint (read_head (fine[i].data, fine[i].n_bytes, step, &head), ==, SBX_HTTP_HEAD_WHOLE);
      }
}

static void
test_bad (void)
{
  SbxHttpHead head;

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    for (gsize step = 1; step <= 1000; step *= 10)
      {
        g_test_message ("%s, by %zu", bad[i].what, step);
        g_assert_cmpint (read_head (bad[i].data, bad[i].n_bytes, step, &head), ==, SBX_HTTP_HEAD_BAD);
      }
}

/* No beginning of a head is whole, and what follows one is not looked at. */
static void
test_beginnings (void)
{
  static const char data[] = LINE HOST "content-length: 5\r\n" END "\0\n\rbody";
  gsize whole = strlen (LINE HOST "content-length: 5\r\n" END);
  SbxHttpHead head;

  for (gsize n = 0; n < whole; n++)
    {
      gsize place = 0;

      g_assert_cmpint (sbx_http_head_find (data, n, &place), ==, SBX_HTTP_HEAD_MORE);
      g_assert_cmpuint (place, ==, n);
    }
  for (gsize n = whole; n <= sizeof data; n++)
    {
      gsize place = 0;

      g_assert_cmpint (sbx_http_head_find (data, n, &place), ==, SBX_HTTP_HEAD_WHOLE);
      g_assert_cmpuint (place, ==, whole);
      g_assert_cmpint (sbx_http_head_parse (data, place, &head), ==, SBX_HTTP_HEAD_WHOLE);
      g_assert_cmpuint (head.content_length, ==, 5);
    }
}

static void
test_parts (void)
{
  static const char data[] =
    "POST /tools/clock HTTP/1.1\r\nHOST: broker\r\nAccept:  a b \r\nContent-LENGTH: 42\r\n\r\n";
  SbxHttpHead head;
  const SbxHttpField *field;

  g_assert_cmpint (read_head (data, strlen (data), 7, &head), ==, SBX_HTTP_HEAD_WHOLE);
  g_assert_true (sbx_http_text_is (head.method, "POST"));
  g_assert_false (sbx_http_text_is (head.method, "post"));
  g_assert_true (sbx_http_text_is (head.target, "/tools/clock"));
  g_assert_cmpuint (head.n_fields, ==, 3);
  g_assert_cmpuint (head.content_length, ==, 42);
  field = sbx_http_head_field (&head, "accept");
  g_assert_nonnull (field);
  g_assert_true (sbx_http_text_is (field->value, "a b"));
  g_assert_null (sbx_http_head_field (&head, "cookie"));
}

static GString *
head_with_fields (guint n_fields)
{
  GString *out = g_string_new (LINE HOST);

  for (guint i = 1; i < n_fields; i++)
    g_string_append_printf (out, "x-%u: a\r\n", i);
  return g_string_append (out, END);
}

static void
test_bounds (void)
{
  g_autoptr (GString) most = head_with_fields (SBX_HTTP_MAX_FIELDS);
  g_autoptr (GString) more = head_with_fields (SBX_HTTP_MAX_FIELDS + 1);
  g_autoptr (GString) large = g_string_new (LINE HOST "accept: ");
  SbxHttpHead head;

  g_assert_cmpint (read_head (most->str, most->len, 100, &head), ==, SBX_HTTP_HEAD_WHOLE);
  g_assert_cmpint (read_head (more->str, more->len, 100, &head), ==, SBX_HTTP_HEAD_TOO_LARGE);

  while (large->len < SBX_HTTP_MAX_HEAD_BYTES - 4)
    g_string_append_c (large, 'a');
  g_string_append (large, "\r\n\r\n");
  g_assert_cmpint (read_head (large->str, large->len, 1000, &head), ==, SBX_HTTP_HEAD_WHOLE);
  g_string_insert_c (large, 60, 'a');
  g_assert_cmpint (read_head (large->str, large->len, 1000, &head), ==, SBX_HTTP_HEAD_TOO_LARGE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/broker/http-head/fine", test_fine);
  g_test_add_func ("/broker/http-head/bad", test_bad);
  g_test_add_func ("/broker/http-head/beginnings", test_beginnings);
  g_test_add_func ("/broker/http-head/parts", test_parts);
  g_test_add_func ("/broker/http-head/bounds", test_bounds);
  return g_test_run ();
}
