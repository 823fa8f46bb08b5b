/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/attach-stream.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "fake-docker.h"

#define ATTACH "POST /v1.41/containers/abc/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\n"
#define UPGRADED                                                                                             \
  "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: "                 \
  "Upgrade\r\nUpgrade: tcp\r\n\r\n"
#define GUEST "\1\0\0\0\0\0\0\2\r\n\r\n"

static int
open_stream (const char *answer, gssize n_bytes, FakeFlags flags, FakeDocker *docker, guint timeout_ms,
             GError **error)
{
  g_autoptr (SbxEngine) engine = sbx_engine_new (fake_docker_path (docker));
  g_autoptr (GAsyncResult) result = NULL;

  fake_docker_add (docker, ATTACH, answer, n_bytes, flags);
  sbx_attach_open_async (engine, "abc", timeout_ms, NULL, keep_result, &result);
  return sbx_attach_open_finish (await_result (&result), error);
}

/* The guest's bytes come together with the head, or one by one: all of them must still be in the socket. */
static void
test_open (gconstpointer flags)
{
  static const char answer[] = UPGRADED GUEST;
  g_autoptr (FakeDocker) docker = fake_docker_new ();
  g_autoptr (GError) error = NULL;
  g_auto (SbxFd) fd = open_stream (answer, sizeof answer - 1, FAKE_HOLD | (FakeFlags) GPOINTER_TO_INT (flags),
                                   docker, 0, &error);
  char got[64] = { 0 };
  gsize n_got = 0;

  g_assert_no_error (error);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fcntl (fd, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
  g_assert_cmpint (fcntl (fd, F_GETFL) & O_NONBLOCK, ==, O_NONBLOCK);
  g_assert_nonnull (strstr (fake_docker_request (docker, 0), "\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"));
  while (n_got < sizeof GUEST - 1)
    {
      ssize_t n = recv (fd, got + n_got, sizeof got - n_got, 0);

      if (n > 0)
        n_got += (gsize) n;
      else
        g_main_context_iteration (NULL, TRUE);
    }
  g_assert_cmpmem (got, n_got, GUEST, sizeof GUEST - 1);
}

static const struct {
  const char *name;
  const char *answer;
  FakeFlags flags;
  guint timeout_ms;
  SbxEngineError code;
} refusals[] = {
  { "gone", "HTTP/1.1 404 Not Found\r\nContent-Length: 27\r\n\r\n{\"message\":\"No such thing\"}\n",
    FAKE_CLOSE, 0, SBX_ENGINE_ERROR_NOT_FOUND },
  { "chunked",
    "HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n{\"message\":\"bad\"}\r\n0\r\n\r\n",
    FAKE_CLOSE, 0, SBX_ENGINE_ERROR_REFUSED },
  { "no-upgrade", "HTTP/1.1 200 OK\r\n\r\n", FAKE_CLOSE, 0, SBX_ENGINE_ERROR_REFUSED },
  { "silent", NULL, FAKE_HOLD, 100, SBX_ENGINE_ERROR_DOWN },
  { "closed", "", FAKE_CLOSE, 0, SBX_ENGINE_ERROR_DOWN },
  { "cut", "HTTP/1.1 101 UPG", FAKE_CLOSE, 0, SBX_ENGINE_ERROR_DOWN },
  { "stuck-refusal", "HTTP/1.1 404 Not Found\r\n\r\n{", FAKE_HOLD, 100, SBX_ENGINE_ERROR_DOWN },
  { "garbage", "220 mail.example ESMTP\r\n\r\n", FAKE_HOLD, 0, SBX_ENGINE_ERROR_ANSWER },
};

static void
test_refusals (void)
{
  g_autoptr (FakeDocker) docker = fake_docker_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", refusals[i].name);
      g_assert_cmpint (
        open_stream (refusals[i].answer, -1, refusals[i].flags, docker, refusals[i].timeout_ms, &error), ==,
        -1);
      g_assert_error (error, SBX_ENGINE_ERROR, (gint) refusals[i].code);
    }
}

static void
test_write (void)
{
  int pair[2];
  g_autofree char *text = g_strnfill (262144, 't');
  g_autoptr (GBytes) turn = g_bytes_new (text, 262144);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  char piece[4096];
  gsize n_got = 0;
  ssize_t n = 0;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), ==, 0);
  sbx_attach_write_async (pair[0], turn, TRUE, 0, NULL, keep_result, &result);
  /* The descriptor may go to the broker while the turn is still being written. */
  close (pair[0]);
  while ((n = recv (pair[1], piece, sizeof piece, 0)) != 0)
    {
      if (n > 0)
        n_got += (gsize) n;
      else
        g_main_context_iteration (NULL, TRUE);
    }
  g_assert_cmpuint (n_got, ==, 262144);
  g_assert_true (sbx_attach_write_finish (await_result (&result), &error));
  g_assert_no_error (error);
  close (pair[1]);
}

/* Only the writing half ends: what the worker answers still comes. */
static void
test_half_closed (void)
{
  int pair[2];
  g_autoptr (GBytes) turn = g_bytes_new_static ("{}", 2);
  g_autoptr (GAsyncResult) result = NULL;
  char piece[8];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), ==, 0);
  sbx_attach_write_async (pair[0], turn, TRUE, 0, NULL, keep_result, &result);
  g_assert_true (sbx_attach_write_finish (await_result (&result), NULL));
  g_assert_cmpint (recv (pair[1], piece, sizeof piece, 0), ==, 2);
  g_assert_cmpint (recv (pair[1], piece, sizeof piece, 0), ==, 0);
  g_assert_cmpint (send (pair[1], "abc", 3, MSG_NOSIGNAL), ==, 3);
  g_assert_cmpint (recv (pair[0], piece, sizeof piece, 0), ==, 3);
  close (pair[0]);
  close (pair[1]);
}

static void
test_write_failures (void)
{
  int pair[2];
  g_autofree char *text = g_strnfill (4000000, 't');
  g_autoptr (GBytes) turn = g_bytes_new (text, 4000000);
  g_autoptr (GAsyncResult) stuck = NULL;
  g_autoptr (GAsyncResult) gone = NULL;
  g_autoptr (GAsyncResult) cancelled = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), ==, 0);
  sbx_attach_write_async (pair[0], turn, TRUE, 100, NULL, keep_result, &stuck);
  g_assert_false (sbx_attach_write_finish (await_result (&stuck), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_clear_error (&error);

  sbx_attach_write_async (pair[0], turn, TRUE, 0, cancellable, keep_result, &cancelled);
  g_cancellable_cancel (cancellable);
  g_assert_false (sbx_attach_write_finish (await_result (&cancelled), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  close (pair[1]);
  sbx_attach_write_async (pair[0], turn, TRUE, 0, NULL, keep_result, &gone);
  g_assert_false (sbx_attach_write_finish (await_result (&gone), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);
  close (pair[0]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/container/attach/open-at-once", GINT_TO_POINTER (0), test_open);
  g_test_add_data_func ("/container/attach/open-bytewise", GINT_TO_POINTER (FAKE_DRIBBLE), test_open);
  g_test_add_func ("/container/attach/refusals", test_refusals);
  g_test_add_func ("/container/attach/write", test_write);
  g_test_add_func ("/container/attach/half-closed", test_half_closed);
  g_test_add_func ("/container/attach/write-failures", test_write_failures);
  return g_test_run ();
}
