/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/frame-link.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

#define LARGE_BYTES (1024u * 1024u)

static const SbxFrameRule rules[] = {
  { SBX_FRAME_READY, 0, 0 },
  { SBX_FRAME_AUDIT, 16, 0 },
  { SBX_FRAME_START, 16, 2 },
  { SBX_FRAME_TOOL_RESULT, LARGE_BYTES, 0 },
};

/* One link under test, and what its owner saw. The other end is a plain descriptor, or a second link. */
typedef struct {
  SbxFrameLink *link;
  SbxFd peer;
  guint n_frames;
  guint n_closed;
  GString *trace; /* of payloads */
  guint32 last_id;
  gsize last_bytes;
  int taken; /* the second descriptor of a frame */
  GError *error;
  gboolean refuse;
  gboolean free_in_frame;
  gboolean free_in_closed;
} Fixture;

static gboolean
on_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  Fixture *fixture = user_data;
  gsize n_bytes;
  const char *data = g_bytes_get_data (frame->payload, &n_bytes);

  fixture->n_frames++;
  fixture->last_id = frame->head.id;
  fixture->last_bytes = n_bytes;
  if (n_bytes > 0 && n_bytes <= 16)
    g_string_append_len (fixture->trace, data, (gssize) n_bytes);
  if (frame->n_fds == 2)
    fixture->taken = g_steal_fd (&frame->fds[1]);
  if (fixture->free_in_frame)
    g_clear_pointer (&fixture->link, sbx_frame_link_free);
  return !fixture->refuse;
}

static void
on_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  Fixture *fixture = user_data;

  fixture->n_closed++;
  if (error != NULL)
    fixture->error = g_error_copy (error);
  if (fixture->free_in_closed)
    g_clear_pointer (&fixture->link, sbx_frame_link_free);
}

static const SbxFrameLinkEvents events = { .frame = on_frame, .closed = on_closed };

static void
fixture_init (Fixture *self)
{
  int pair[2];

  *self = (Fixture){ .taken = -1, .trace = g_string_new (NULL) };
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  self->link = sbx_frame_link_new (pair[0], rules, G_N_ELEMENTS (rules), &events, self);
  self->peer = pair[1];
}

static void
fixture_clear (Fixture *self)
{
  sbx_frame_link_free (self->link);
  sbx_fd_close (self->peer);
  sbx_fd_close (self->taken);
  g_string_free (self->trace, TRUE);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

/* Runs the loop until nothing is ready any more. */
static void
settle (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
run_until_closed (Fixture *fixture)
{
  while (fixture->n_closed == 0)
    g_main_context_iteration (NULL, TRUE);
}

static void
run_until_frames (Fixture *fixture, guint n_frames)
{
  while (fixture->n_frames < n_frames && fixture->n_closed == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (fixture->n_frames, ==, n_frames);
}

/* A frame as bytes, whatever the rules say. */
static GByteArray *
raw_frame (guint type, guint32 id, const char *payload)
{
  GByteArray *out = g_byte_array_new ();
  SbxFrameHead head = { .type = (SbxFrameType) type, .id = id, .n_bytes = (guint32) strlen (payload) };

  g_byte_array_set_size (out, SBX_FRAME_HEAD_BYTES);
  sbx_frame_head_write (&head, out->data);
  g_byte_array_append (out, (const guint8 *) payload, (guint) strlen (payload));
  return out;
}

static void
peer_write (Fixture *fixture, gconstpointer data, gsize n_bytes)
{
  g_assert_cmpint (send (fixture->peer, data, n_bytes, MSG_NOSIGNAL), ==, (gssize) n_bytes);
}

static void
peer_send (Fixture *fixture, guint type, guint32 id, const char *payload)
{
  g_autoptr (GByteArray) frame = raw_frame (type, id, payload);

  peer_write (fixture, frame->data, frame->len);
}

/* The same, with n_fds descriptors of /dev/null. */
static void
peer_send_fds (Fixture *fixture, guint type, const char *payload, guint n_fds)
{
  g_autoptr (GByteArray) frame = raw_frame (type, 1, payload);
  g_auto (SbxFd) null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  union {
    char bytes[CMSG_SPACE (sizeof (int) * 8)];
    struct cmsghdr align;
  } control = { .bytes = { 0 } };
  struct iovec vector = { .iov_base = frame->data, .iov_len = frame->len };
  struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE (sizeof (int) * n_fds);
  control.align.cmsg_level = SOL_SOCKET;
  control.align.cmsg_type = SCM_RIGHTS;
  control.align.cmsg_len = CMSG_LEN (sizeof (int) * n_fds);
  for (guint i = 0; i < n_fds; i++)
    memcpy (CMSG_DATA (&control.align) + i * sizeof null, &null, sizeof null);
  g_assert_cmpint (sendmsg (fixture->peer, &message, MSG_NOSIGNAL), ==, (gssize) frame->len);
}

static void
peer_close (Fixture *fixture)
{
  sbx_fd_close (g_steal_fd (&fixture->peer));
}

static guint
count_fds (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint count = 0;

  while (g_dir_read_name (dir) != NULL)
    count++;
  return count;
}

/* --- reading --- */

static void
test_exchange (void)
{
  g_auto (Fixture) here = { 0 };
  g_autoptr (GBytes) payload = g_bytes_new_static ("hello", 5);
  SbxFrameLink *other;
  Fixture there = { .taken = -1, .trace = g_string_new (NULL) };

  fixture_init (&here);
  other = sbx_frame_link_new (g_steal_fd (&here.peer), rules, G_N_ELEMENTS (rules), &events, &there);
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
  other = sbx_frame_link_new (g_steal_fd (&fixture.peer), rules, G_N_ELEMENTS (rules), &events, &there);
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
  g_assert_cmpint (sbx_frame_link_peek_fd (fixture.link), >=, 0);

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
