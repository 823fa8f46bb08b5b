/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "frame-link-fixture.h"

static const SbxFrameRule rules[] = {
  { SBX_FRAME_READY, 0, 0 },
  { SBX_FRAME_AUDIT, 16, 0 },
  { SBX_FRAME_START, 16, 2 },
  { SBX_FRAME_TOOL_RESULT, LARGE_BYTES, 0 },
};

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

SbxFrameLink *
fixture_link_new (Fixture *self, int fd)
{
  return sbx_frame_link_new (fd, rules, G_N_ELEMENTS (rules), &events, self);
}

void
fixture_init (Fixture *self)
{
  int pair[2];

  *self = (Fixture){ .taken = -1, .trace = g_string_new (NULL) };
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  self->link = fixture_link_new (self, pair[0]);
  self->peer = pair[1];
}

void
fixture_clear (Fixture *self)
{
  sbx_frame_link_free (self->link);
  sbx_fd_close (self->peer);
  sbx_fd_close (self->taken);
  g_string_free (self->trace, TRUE);
  g_clear_error (&self->error);
}

void
settle (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

void
run_until_closed (Fixture *fixture)
{
  while (fixture->n_closed == 0)
    g_main_context_iteration (NULL, TRUE);
}

void
run_until_frames (Fixture *fixture, guint n_frames)
{
  while (fixture->n_frames < n_frames && fixture->n_closed == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (fixture->n_frames, ==, n_frames);
}

GByteArray *
raw_frame (guint type, guint32 id, const char *payload)
{
  GByteArray *out = g_byte_array_new ();
  SbxFrameHead head = { .type = (SbxFrameType) type, .id = id, .n_bytes = (guint32) strlen (payload) };

  g_byte_array_set_size (out, SBX_FRAME_HEAD_BYTES);
  sbx_frame_head_write (&head, out->data);
  g_byte_array_append (out, (const guint8 *) payload, (guint) strlen (payload));
  return out;
}

void
peer_write (Fixture *fixture, gconstpointer data, gsize n_bytes)
{
  g_assert_cmpint (send (fixture->peer, data, n_bytes, MSG_NOSIGNAL), ==, (gssize) n_bytes);
}

void
peer_send (Fixture *fixture, guint type, guint32 id, const char *payload)
{
  g_autoptr (GByteArray) frame = raw_frame (type, id, payload);

  peer_write (fixture, frame->data, frame->len);
}

void
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

void
peer_close (Fixture *fixture)
{
  sbx_fd_close (g_steal_fd (&fixture->peer));
}

guint
count_fds (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint count = 0;

  while (g_dir_read_name (dir) != NULL)
    count++;
  return count;
}
