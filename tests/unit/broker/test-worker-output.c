/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/worker-output.h"

#include <string.h>

#define GOOD "{\"ok\":true,\"text\":\"a\"}"

typedef struct {
  guint8 stream;
  const char *text;
} Piece;

typedef struct {
  const char *what;
  gboolean at_newline;
  Piece pieces[4];
  SbxOutputVerdict fed;   /* after the pieces */
  SbxOutputVerdict ended; /* after the end, where more was wanted */
  SbxFailure failure;
} Case;

static const Case cases[] = {
  { "whole", FALSE, { { 1, GOOD } }, SBX_OUTPUT_MORE, SBX_OUTPUT_REPLY, SBX_FAILURE_NONE },
  { "whole with line ends",
    FALSE,
    { { 1, GOOD "\n\n" } },
    SBX_OUTPUT_MORE,
    SBX_OUTPUT_REPLY,
    SBX_FAILURE_NONE },
  { "in pieces",
    FALSE,
    { { 1, "{\"ok\":" }, { 2, "log" }, { 1, "true,\"text\":\"a\"}" } },
    SBX_OUTPUT_MORE,
    SBX_OUTPUT_REPLY,
    SBX_FAILURE_NONE },
  { "own, at the line end",
    TRUE,
    { { 1, GOOD "\n" } },
    SBX_OUTPUT_REPLY,
    SBX_OUTPUT_REPLY,
    SBX_FAILURE_NONE },
  { "own, what follows is not looked at",
    TRUE,
    { { 1, GOOD "\n{\"ok\"" } },
    SBX_OUTPUT_REPLY,
    SBX_OUTPUT_REPLY,
    SBX_FAILURE_NONE },
  { "own, in pieces",
    TRUE,
    { { 1, GOOD }, { 2, "a\nb" }, { 1, "\n" } },
    SBX_OUTPUT_REPLY,
    SBX_OUTPUT_REPLY,
    SBX_FAILURE_NONE },
  { "own, without a line end",
    TRUE,
    { { 1, GOOD } },
    SBX_OUTPUT_MORE,
    SBX_OUTPUT_NO_REPLY,
    SBX_FAILURE_REPLY_INVALID },
  { "own, empty line",
    TRUE,
    { { 1, "\n" } },
    SBX_OUTPUT_NO_REPLY,
    SBX_OUTPUT_NO_REPLY,
    SBX_FAILURE_REPLY_INVALID },
  { "nothing", FALSE, { { 0 } }, SBX_OUTPUT_MORE, SBX_OUTPUT_NO_REPLY, SBX_FAILURE_WORKER_FAILED },
  { "own, nothing",
    TRUE,
    { { 2, "no\n" } },
    SBX_OUTPUT_MORE,
    SBX_OUTPUT_NO_REPLY,
    SBX_FAILURE_WORKER_FAILED },
  { "errors only", FALSE, { { 2, GOOD } }, SBX_OUTPUT_MORE, SBX_OUTPUT_NO_REPLY, SBX_FAILURE_WORKER_FAILED },
  { "not a reply",
    FALSE,
    { { 1, "hello" } },
    SBX_OUTPUT_MORE,
    SBX_OUTPUT_NO_REPLY,
    SBX_FAILURE_REPLY_INVALID },
  { "two replies",
    FALSE,
    { { 1, GOOD }, { 1, GOOD } },
    SBX_OUTPUT_MORE,
    SBX_OUTPUT_NO_REPLY,
    SBX_FAILURE_REPLY_INVALID },
  { "standard input",
    FALSE,
    { { 0xff, "a" } },
    SBX_OUTPUT_NO_REPLY,
    SBX_OUTPUT_NO_REPLY,
    SBX_FAILURE_REPLY_INVALID },
};

static void
append_frame (GByteArray *out, guint8 stream, const char *text, gsize n_bytes)
{
  guint32 wire = GUINT32_TO_BE ((guint32) n_bytes);
  const guint8 head[4] = { stream };

  g_byte_array_append (out, head, sizeof head);
  g_byte_array_append (out, (const guint8 *) &wire, sizeof wire);
  g_byte_array_append (out, (const guint8 *) text, (guint) n_bytes);
}

static SbxOutputVerdict
feed (SbxWorkerOutput *output, GByteArray *data, gsize step, SbxControlReply *ret_reply,
      SbxFailure *ret_failure)
{
  SbxOutputVerdict verdict = SBX_OUTPUT_MORE;

  for (gsize place = 0; verdict == SBX_OUTPUT_MORE && place < data->len; place += step)
    verdict = sbx_worker_output_feed (output, data->data + place, MIN (step, data->len - place), ret_reply,
                                      ret_failure);
  return verdict;
}

static void
run_case (const Case *self, gsize step)
{
  g_autoptr (SbxWorkerOutput) output = sbx_worker_output_new (self->at_newline);
  g_autoptr (GByteArray) data = g_byte_array_new ();
  g_auto (SbxControlReply) reply = { 0 };
  SbxFailure failure = SBX_FAILURE_NONE;
  SbxOutputVerdict verdict;

  g_test_message ("%s, by %zu", self->what, step);
  for (const Piece *piece = self->pieces; piece->text != NULL; piece++)
    append_frame (data, piece->stream, piece->text, strlen (piece->text));
  verdict = feed (output, data, step, &reply, &failure);
  g_assert_cmpint (verdict, ==, self->fed);
  if (verdict == SBX_OUTPUT_MORE)
    verdict = sbx_worker_output_end (output, &reply, &failure);
  g_assert_cmpint (verdict, ==, self->ended);
  g_assert_cmpint (failure, ==, self->failure);
  if (verdict == SBX_OUTPUT_REPLY)
    g_assert_cmpstr (reply.text, ==, "a");
}

static void
test_table (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gsize step = 1; step <= 100; step *= 10)
      run_case (&cases[i], step);
}

/* Both bounds are inclusive; an empty frame is none. */
static void
test_bounds (void)
{
  static const struct {
    guint8 stream;
    gsize n_bytes;
    SbxOutputVerdict fed;
  } rows[] = {
    { 1, SBX_MAX_STDOUT_BYTES, SBX_OUTPUT_MORE },
    { 1, SBX_MAX_STDOUT_BYTES + 1, SBX_OUTPUT_NO_REPLY },
    { 2, SBX_MAX_STDERR_BYTES, SBX_OUTPUT_MORE },
    { 2, SBX_MAX_STDERR_BYTES + 1, SBX_OUTPUT_NO_REPLY },
    { 1, 0, SBX_OUTPUT_MORE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (SbxWorkerOutput) output = sbx_worker_output_new (FALSE);
      g_autoptr (GByteArray) data = g_byte_array_new ();
      g_autofree char *text = g_malloc0 (MAX (rows[i].n_bytes, 1));
      g_auto (SbxControlReply) reply = { 0 };
      SbxFailure failure = SBX_FAILURE_NONE;

      append_frame (data, rows[i].stream, text, rows[i].n_bytes);
      g_assert_cmpint (feed (output, data, 65536, &reply, &failure), ==, rows[i].fed);
      if (rows[i].fed == SBX_OUTPUT_NO_REPLY)
        g_assert_cmpint (failure, ==, SBX_FAILURE_REPLY_TOO_LARGE);
    }
}

/* Heads that Docker does not write, and an end in the middle of a frame. */
static void
test_heads (void)
{
  static const guint8 heads[][8] = {
    { 0, 0, 0, 0, 0, 0, 0, 1 }, { 3, 0, 0, 0, 0, 0, 0, 1 }, { 1, 1, 0, 0, 0, 0, 0, 1 },
    { 1, 0, 1, 0, 0, 0, 0, 1 }, { 1, 0, 0, 1, 0, 0, 0, 1 }, { 'H', 'T', 'T', 'P', '/', '1', '.', '1' },
  };
  g_auto (SbxControlReply) reply = { 0 };
  SbxFailure failure = SBX_FAILURE_NONE;

  for (gsize i = 0; i < G_N_ELEMENTS (heads); i++)
    {
      g_autoptr (SbxWorkerOutput) output = sbx_worker_output_new (FALSE);

      g_assert_cmpint (sbx_worker_output_feed (output, heads[i], 8, &reply, &failure), ==,
                       SBX_OUTPUT_NO_REPLY);
      g_assert_cmpint (failure, ==, SBX_FAILURE_REPLY_INVALID);
    }

  for (gsize n = 9; n < 8 + strlen (GOOD); n++)
    {
      g_autoptr (SbxWorkerOutput) output = sbx_worker_output_new (FALSE);
      g_autoptr (GByteArray) data = g_byte_array_new ();

      append_frame (data, 1, GOOD, strlen (GOOD));
      g_assert_cmpint (sbx_worker_output_feed (output, data->data, n, &reply, &failure), ==, SBX_OUTPUT_MORE);
      g_assert_cmpint (sbx_worker_output_end (output, &reply, &failure), ==, SBX_OUTPUT_NO_REPLY);
      g_assert_cmpint (failure, ==, SBX_FAILURE_REPLY_INVALID);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/broker/worker-output/table", test_table);
  g_test_add_func ("/broker/worker-output/bounds", test_bounds);
  g_test_add_func ("/broker/worker-output/heads", test_heads);
  return g_test_run ();
}
