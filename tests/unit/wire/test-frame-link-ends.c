/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "frame-link-fixture.h"

/* --- writing --- */

/* A peer that never reads: sending fails when the bound is reached, and nothing is lost of what was taken. */
static void
test_peer_never_reads (void)
{
  g_auto (Fixture) fixture = { 0 };
  g_autofree char *block = g_strnfill (LARGE_BYTES / 4, 'x');
  g_autoptr (GBytes) payload = g_bytes_new_static (block, LARGE_BYTES / 4);
  g_autoptr (GError) error = NULL;
  g_autofree char *room = g_malloc (LARGE_BYTES);
  guint n_sent = 0;
  gsize n_expected;
  gsize n_read = 0;

  fixture_init (&fixture);
  while (sbx_frame_link_send (fixture.link, SBX_FRAME_TOOL_RESULT, n_sent, payload, NULL, 0, &error))
    {
      n_sent++;
      settle ();
      g_assert_cmpuint (n_sent, <, 1000);
    }
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
  /* What is queued, and what the kernel took beside it. */
  g_assert_cmpuint (n_sent * (LARGE_BYTES / 4), <=, SBX_FRAME_LINK_MAX_QUEUED + LARGE_BYTES);
  g_assert_cmpuint (fixture.n_closed, ==, 0);

  n_expected = n_sent * (SBX_FRAME_HEAD_BYTES + LARGE_BYTES / 4);
  while (n_read < n_expected)
    {
      gssize n = recv (fixture.peer, room, LARGE_BYTES, MSG_DONTWAIT);

      if (n > 0)
        n_read += (gsize) n;
      else
        g_main_context_iteration (NULL, TRUE);
    }
  g_assert_cmpuint (n_read, ==, n_expected);
  g_assert_true (sbx_frame_link_send (fixture.link, SBX_FRAME_READY, 0, NULL, NULL, 0, NULL));
}

/* The peer says its last words and goes while we write: they are heard, then its end. */
static void
test_last_words (void)
{
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (GBytes) payload = g_bytes_new_static ("x", 1);

  fixture_init (&fixture);
  peer_send (&fixture, SBX_FRAME_AUDIT, 1, "a");
  peer_send (&fixture, SBX_FRAME_AUDIT, 2, "b");
  peer_send (&fixture, SBX_FRAME_AUDIT, 3, "c");
  peer_close (&fixture);
  g_assert_true (sbx_frame_link_send (fixture.link, SBX_FRAME_AUDIT, 0, payload, NULL, 0, NULL));
  g_assert_cmpuint (fixture.n_closed, ==, 0); /* never from inside a send */
  run_until_closed (&fixture);
  g_assert_cmpstr (fixture.trace->str, ==, "abc");
  g_assert_false (sbx_frame_link_send (fixture.link, SBX_FRAME_AUDIT, 0, payload, NULL, 0, NULL));
}

/* The same with a full queue, and with bytes that the peer never read. */
static void
test_last_words_beside_a_full_queue (void)
{
  g_auto (Fixture) fixture = { 0 };
  g_autofree char *block = g_strnfill (LARGE_BYTES, 'x');
  g_autoptr (GBytes) payload = g_bytes_new_static (block, LARGE_BYTES);

  fixture_init (&fixture);
  while (sbx_frame_link_send (fixture.link, SBX_FRAME_TOOL_RESULT, 0, payload, NULL, 0, NULL))
    ;
  peer_send (&fixture, SBX_FRAME_AUDIT, 1, "a");
  peer_send (&fixture, SBX_FRAME_AUDIT, 2, "b");
  peer_close (&fixture);
  run_until_closed (&fixture);
  g_assert_cmpstr (fixture.trace->str, ==, "ab");
}

/* --- ends --- */

static void
test_freed_in_frame (void)
{
  g_auto (Fixture) fixture = { 0 };

  fixture_init (&fixture);
  fixture.free_in_frame = TRUE;
  peer_send (&fixture, SBX_FRAME_AUDIT, 1, "a");
  peer_send (&fixture, SBX_FRAME_AUDIT, 2, "b");
  run_until_frames (&fixture, 1);
  settle ();
  g_assert_cmpuint (fixture.n_frames, ==, 1);
  g_assert_cmpuint (fixture.n_closed, ==, 0);
}

static void
test_freed_and_refused_in_frame (void)
{
  g_auto (Fixture) fixture = { 0 };

  fixture_init (&fixture);
  fixture.free_in_frame = TRUE;
  fixture.refuse = TRUE;
  peer_send (&fixture, SBX_FRAME_AUDIT, 1, "a");
  run_until_frames (&fixture, 1);
  settle ();
  g_assert_cmpuint (fixture.n_closed, ==, 0);
}

static void
test_freed_in_closed (void)
{
  g_auto (Fixture) fixture = { 0 };

  fixture_init (&fixture);
  fixture.free_in_closed = TRUE;
  peer_close (&fixture);
  run_until_closed (&fixture);
  settle ();
  g_assert_cmpuint (fixture.n_closed, ==, 1);
}

static void
test_freed_with_a_full_queue (void)
{
  guint before = count_fds ();
  g_autofree char *block = g_strnfill (LARGE_BYTES, 'x');
  g_autoptr (GBytes) payload = g_bytes_new_static (block, LARGE_BYTES);

  {
    g_auto (Fixture) fixture = { 0 };
    int fds[2];

    fixture_init (&fixture);
    while (sbx_frame_link_send (fixture.link, SBX_FRAME_TOOL_RESULT, 0, payload, NULL, 0, NULL))
      ;
    fds[0] = fds[1] = fixture.peer;
    g_assert_true (sbx_frame_link_send (fixture.link, SBX_FRAME_START, 0, NULL, fds, 2, NULL));
  }
  g_assert_cmpuint (count_fds (), ==, before);
}

static void
test_steal (void)
{
  g_auto (Fixture) idle = { 0 };
  g_auto (Fixture) half = { 0 };
  g_auto (SbxFd) stolen = -1;

  fixture_init (&idle);
  peer_send (&idle, SBX_FRAME_AUDIT, 1, "a");
  run_until_frames (&idle, 1);
  stolen = sbx_frame_link_steal_fd (g_steal_pointer (&idle.link));
  g_assert_cmpint (stolen, >=, 0);
  peer_write (&idle, "x", 1);
  g_assert_cmpint (recv (stolen, &(char){ 0 }, 1, 0), ==, 1);

  fixture_init (&half);
  peer_write (&half, "SBX1", 4);
  settle ();
  g_assert_cmpint (sbx_frame_link_steal_fd (g_steal_pointer (&half.link)), ==, -1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/frame-link/peer-never-reads", test_peer_never_reads);
  g_test_add_func ("/frame-link/last-words", test_last_words);
  g_test_add_func ("/frame-link/last-words-beside-a-full-queue", test_last_words_beside_a_full_queue);
  g_test_add_func ("/frame-link/freed-in-frame", test_freed_in_frame);
  g_test_add_func ("/frame-link/freed-and-refused-in-frame", test_freed_and_refused_in_frame);
  g_test_add_func ("/frame-link/freed-in-closed", test_freed_in_closed);
  g_test_add_func ("/frame-link/freed-with-a-full-queue", test_freed_with_a_full_queue);
  g_test_add_func ("/frame-link/steal", test_steal);
  return g_test_run ();
}
