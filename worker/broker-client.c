/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker-client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/names.h"
#include "http-answer.h"
#include "wire/bounds.h"

#define READ_BYTES 65536u
/* Head, and the most that chunk lines can add to a body. */
#define MAX_RAW_BYTES (2u * SBX_MAX_ANSWER_BYTES + SBX_HTTP_ANSWER_MAX_HEAD_BYTES)

G_DEFINE_QUARK (sbx - broker - error - quark, sbx_broker_error)

static gboolean
fail (GError **error, SbxBrokerError code, const char *what)
{
  g_set_error_literal (error, SBX_BROKER_ERROR, code, what);
  return FALSE;
}

/* Waits for events until due (monotonic, usec). */
static gboolean
await (int fd, short events, gint64 due, GError **error)
{
  for (;;)
    {
      gint64 left = due - g_get_monotonic_time ();
      struct pollfd one = { .fd = fd, .events = events };
      int n;

      if (left <= 0)
        return fail (error, SBX_BROKER_ERROR_DEADLINE, "the broker did not answer in time");
      n = poll (&one, 1, (int) MIN (left / 1000 + 1, G_MAXINT));
      if (n > 0)
        return TRUE;
      if (n < 0 && errno != EINTR)
        return fail (error, SBX_BROKER_ERROR_CONNECTION, "waiting for the broker failed");
    }
}

static int
connect_to (const char *socket_path, gint64 due, GError **error)
{
  g_auto (SbxFd) fd = -1;
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  struct timeval limit = { .tv_sec = (time_t) MAX ((due - g_get_monotonic_time ()) / G_USEC_PER_SEC, 1) };

  if (strlen (socket_path) >= sizeof address.sun_path)
    {
      fail (error, SBX_BROKER_ERROR_CONNECTION, "the path of the broker's socket is too long");
      return -1;
    }
  memcpy (address.sun_path, socket_path, strlen (socket_path));
  fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  /* A Unix connect() blocks only while the listener's queue is full; the send limit bounds it. */
  if (fd < 0 || setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0
      || connect (fd, (const struct sockaddr *) &address, sizeof address) < 0)
    {
      fail (error, SBX_BROKER_ERROR_CONNECTION, "cannot connect to the broker");
      return -1;
    }
  return g_steal_fd (&fd);
}

static gboolean
send_all (int fd, const char *data, gsize n_bytes, gint64 due, GError **error)
{
  while (n_bytes > 0)
    {
      ssize_t put;

      if (!await (fd, POLLOUT, due, error))
        return FALSE;
      put = send (fd, data, n_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (put < 0)
        return fail (error, SBX_BROKER_ERROR_CONNECTION, "the broker closed the connection");
      data += put;
      n_bytes -= (gsize) put;
    }
  return TRUE;
}

/* TRUE with *ret_end set at the end of the stream. */
static gboolean
receive_some (int fd, GByteArray *data, gboolean *ret_end, gint64 due, GError **error)
{
  guint before = data->len;
  ssize_t got;

  if (!await (fd, POLLIN, due, error))
    return FALSE;
  g_byte_array_set_size (data, before + READ_BYTES);
  got = recv (fd, data->data + before, READ_BYTES, MSG_DONTWAIT);
  g_byte_array_set_size (data, before + (guint) MAX (got, 0));
  if (got < 0 && errno != EINTR && errno != EAGAIN)
    return fail (error, SBX_BROKER_ERROR_CONNECTION, "the broker closed the connection");
  *ret_end = got == 0;
  if (data->len > MAX_RAW_BYTES)
    return fail (error, SBX_BROKER_ERROR_ANSWER, "the broker's answer is too large");
  return TRUE;
}

static GByteArray *
receive_answer (int fd, gint64 due, guint *ret_status, GError **error)
{
  g_autoptr (GByteArray) data = g_byte_array_new ();
  GByteArray *body = NULL;
  gboolean at_end = FALSE;

  for (;;)
    {
      switch (sbx_http_answer_read (data, at_end, SBX_MAX_ANSWER_BYTES, ret_status, &body))
        {
        case SBX_HTTP_ANSWER_DONE:
          return body;
        case SBX_HTTP_ANSWER_MORE:
          if (!receive_some (fd, data, &at_end, due, error))
            return NULL;
          break;
        case SBX_HTTP_ANSWER_BAD:
        default:
          fail (error, SBX_BROKER_ERROR_ANSWER, "the broker's answer is not HTTP, cut short or too large");
          return NULL;
        }
    }
}

GByteArray *
sbx_broker_post (const char *socket_path, const char *path, const char *body, gsize n_bytes,
                 guint deadline_msec, guint *ret_status, GError **error)
{
  gint64 due = g_get_monotonic_time () + (gint64) deadline_msec * 1000;
  g_autofree char *head = NULL;
  g_autoptr (GByteArray) answer = NULL;
  g_auto (SbxFd) fd = -1;
  guint status = 0;

  g_return_val_if_fail (socket_path != NULL && path != NULL && body != NULL, NULL);

  if (ret_status != NULL)
    *ret_status = 0;
  fd = connect_to (socket_path, due, error);
  if (fd < 0)
    return NULL;
  head =
    g_strdup_printf ("POST %s HTTP/1.1\r\nhost: broker\r\ncontent-type: application/json\r\n"
                     "content-length: %" G_GSIZE_FORMAT "\r\nauthorization: Bearer " SBX_DUMMY_KEY "\r\n\r\n",
                     path, n_bytes);
  /* A broker may refuse before it has read the body: its answer counts, not our broken write. */
  if (!send_all (fd, head, strlen (head), due, error))
    return NULL;
  (void) send_all (fd, body, n_bytes, due, NULL);
  answer = receive_answer (fd, due, &status, error);
  if (answer == NULL)
    return NULL;
  if (ret_status != NULL)
    *ret_status = status;
  if (status != 200)
    {
      g_set_error (error, SBX_BROKER_ERROR, SBX_BROKER_ERROR_STATUS, "the broker answered with status %u",
                   status);
      return NULL;
    }
  return g_steal_pointer (&answer);
}
