/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "frame-link-fixture.h"

/* --- reading --- */

static void
test_exchange (void)
{
  g_auto (Fixture) here = { 0 };
  g_autoptr (GBytes) payload = g_bytes_new_static ("hello", 5);
  SbxFrameLink *other;
  Fixture there = { .taken = -1, .trace = g_string_new (NULL) };

  fixture_init (&here);
  other = fixture_link_new (&there, g_steal_fd (&here.peer));
  g_assert_true (sbx_frame_link_send (other, SBX_FRAME_AUDIT, 7, payload, NULL, 0, NULL));
  g_assert_true (sbx_frame_link_send (other, SBX_FRAME_READY, G_MAXUINT32, NULL, NULL, 0, NULL)); /* empty */
  run_until_frames (&here, 2);
  g_assert_cmpstr (here.trace->str, ==, "hello");
  g_assert_cmpuint (here.last_id, ==, G_MAXUINT32);
  g_assert_cmpuint (here.last_bytes, ==, 0);

  g_assert_true (sbx_frame_link_send (here.link, SBX_FRAME_AUDIT, 8, payload, NULL, 0, NULL));
  run_until_frames (&there, 1);
  g_assert_cmpuint (there.last_id, ==, 8);
  sbx_frame_link_free (other);
  run_until_closed (&here);
  g_assert_no_error (here.error);
  g_assert_cmpuint (there.n_closed, ==, 0); /* free() tells nobody */
  g_string_free (there.trace, TRUE);
}

/* Byte by byte, with the loop run dry in between. */
static void
test_pieces (void)
{
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (GByteArray) frame = raw_frame (SBX_FRAME_AUDIT, 3, "payload");

  fixture_init (&fixture);
  for (guint i = 0; i < frame->len; i++)
    {
      g_assert_cmpuint (fixture.n_frames, ==, 0);
      peer_write (&fixture, frame->data + i, 1);
      settle ();
    }
  g_assert_cmpuint (fixture.n_frames, ==, 1);
  g_assert_cmpstr (fixture.trace->str, ==, "payload");
}

static void
test_closed_between_frames (void)
{
  g_auto (Fixture) fixture = { 0 };

  fixture_init (&fixture);
  peer_send (&fixture, SBX_FRAME_AUDIT, 1, "a");
  peer_send (&fixture, SBX_FRAME_AUDIT, 2, "b");
  peer_close (&fixture);
  run_until_closed (&fixture);
  g_assert_cmpstr (fixture.trace->str, ==, "ab");
  g_assert_no_error (fixture.error);
}

/* Each beginning of a frame, then the end. */
static void
test_closed_inside_a_frame (void)
{
  g_autoptr (GByteArray) frame = raw_frame (SBX_FRAME_AUDIT, 3, "payload");

  for (guint n_bytes = 1; n_bytes < frame->len; n_bytes++)
    {
      g_auto (Fixture) fixture = { 0 };

      fixture_init (&fixture);
      peer_write (&fixture, frame->data, n_bytes);
      peer_close (&fixture);
      run_until_closed (&fixture);
      g_assert_cmpuint (fixture.n_frames, ==, 0);
      g_assert_error (fixture.error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
    }
}

static void
test_broken_rules (void)
{
  static const struct {
    guint type;
    const char *payload;
  } cases[] = {
    { SBX_FRAME_CONFIG, "" }, /* not in the table */
    { 0, "" },
    { 0xffff, "" },
    { SBX_FRAME_READY, "x" }, /* too long */
    { SBX_FRAME_AUDIT, "12345678901234567" },
    { SBX_FRAME_START, "x" }, /* its descriptors are missing */
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Fixture) fixture = { 0 };

      fixture_init (&fixture);
      peer_send (&fixture, cases[i].type, 1, cases[i].payload);
      run_until_closed (&fixture);
      g_assert_cmpuint (fixture.n_frames, ==, 0);
      g_assert_error (fixture.error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      g_assert_false (sbx_frame_link_send (fixture.link, SBX_FRAME_READY, 0, NULL, NULL, 0, NULL));
    }
}

static void
test_http_is_no_frame (void)
{
  g_auto (Fixture) fixture = { 0 };

  fixture_init (&fixture);
  peer_write (&fixture, "POST /model HTTP/1.1\r\n\r\n", 24);
  run_until_closed (&fixture);
  g_assert_error (fixture.error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
}

static void
test_refused_by_the_owner (void)
{
  g_auto (Fixture) fixture = { 0 };

  fixture_init (&fixture);
  fixture.refuse = TRUE;
  peer_send (&fixture, SBX_FRAME_AUDIT, 1, "a");
  peer_send (&fixture, SBX_FRAME_AUDIT, 2, "b");
  run_until_closed (&fixture);
  settle ();
  g_assert_cmpuint (fixture.n_frames, ==, 1);
  g_assert_cmpuint (fixture.n_closed, ==, 1);
  g_assert_error (fixture.error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
}

/* A peer that floods gets one frame a turn of the loop, and everybody else their turns. */
static void
test_flood (void)
{
  g_auto (Fixture) fixture = { 0 };
  guint iterations = 0;

  fixture_init (&fixture);
  for (guint i = 0; i < 100; i++)
    peer_send (&fixture, SBX_FRAME_READY, i, "");
  while (fixture.n_frames < 100)
    {
      guint before = fixture.n_frames;

      g_main_context_iteration (NULL, TRUE);
      g_assert_cmpuint (fixture.n_frames - before, <=, 1);
      iterations++;
    }
  g_assert_cmpuint (iterations, >=, 100);
}

/* --- descriptors --- */

static void
test_descriptors (void)
{
  g_auto (Fixture) fixture = { 0 };
  SbxFrameLink *other;
  Fixture there = { .taken = -1, .trace = g_string_new (NULL) };
  g_autoptr (GBytes) payload = g_bytes_new_static ("go", 2);
  int ends[2];
  char byte;
  guint before;

  fixture_init (&fixture);
  other = fixture_link_new (&there, g_steal_fd (&fixture.peer));
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  before = count_fds ();
  g_assert_true (sbx_frame_link_send (other, SBX_FRAME_START, 1, payload, ends, 2, NULL));
  run_until_frames (&fixture, 1);
  g_assert_cmpuint (count_fds (), ==, before + 1); /* one taken, one closed after the call */
  g_assert_cmpint (fcntl (fixture.taken, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
  g_assert_cmpint (write (fixture.taken, "x", 1), ==, 1);
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 1);
  sbx_fd_close (ends[0]); /* the sender kept its own */
  sbx_fd_close (ends[1]);
  sbx_frame_link_free (other);
  g_string_free (there.trace, TRUE);
}

static void
test_unexpected_descriptors (void)
{
  static const struct {
    guint type;
    const char *payload;
    guint n_fds;
  } cases[] = {
    { SBX_FRAME_READY, "", 1 },  { SBX_FRAME_AUDIT, "x", 2 }, { SBX_FRAME_START, "x", 1 },
    { SBX_FRAME_START, "x", 3 }, { SBX_FRAME_READY, "", 8 },
  };
  guint before = count_fds ();

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Fixture) fixture = { 0 };

      fixture_init (&fixture);
      peer_send_fds (&fixture, cases[i].type, cases[i].payload, cases[i].n_fds);
      run_until_closed (&fixture);
      g_assert_cmpuint (fixture.n_frames, ==, 0);
      g_assert_true (fixture.error != NULL && fixture.error->domain == G_IO_ERROR);
    }
  g_assert_cmpuint (count_fds (), ==, before); /* none is left behind */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/frame-link/exchange", test_exchange);
  g_test_add_func ("/frame-link/pieces", test_pieces);
  g_test_add_func ("/frame-link/closed-between-frames", test_closed_between_frames);
  g_test_add_func ("/frame-link/closed-inside-a-frame", test_closed_inside_a_frame);
  g_test_add_func ("/frame-link/broken-rules", test_broken_rules);
  g_test_add_func ("/frame-link/http", test_http_is_no_frame);
  g_test_add_func ("/frame-link/refused-by-the-owner", test_refused_by_the_owner);
  g_test_add_func ("/frame-link/flood", test_flood);
  g_test_add_func ("/frame-link/descriptors", test_descriptors);
  g_test_add_func ("/frame-link/unexpected-descriptors", test_unexpected_descriptors);
  return g_test_run ();
}
