/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/frame-link.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/source.h"

/* Longer payloads are sent from where they are; shorter ones are copied behind their head, for one call and
 * one wakeup of the peer. */
#define COPIED_BYTES 4096u

typedef struct {
  guint8 *bytes; /* head, and the payload where it is short */
  gsize n_bytes;
  GBytes *rest;  /* NULL, or the payload */
  gsize written; /* of both */
  int fds[SBX_FRAME_MAX_FDS];
  guint n_fds;
} Outgoing;

struct _SbxFrameLink {
  grefcount refs; /* held by the owner and by each dispatch that runs */
  gboolean closed;
  gboolean write_ended; /* the peer takes no more; what it has sent before is still read */
  SbxFd fd;
  const SbxFrameRule *rules;
  gsize n_rules;
  const SbxFrameLinkEvents *events;
  gpointer user_data;
  GSource *read_source;
  GSource *write_source;
  GQueue outgoing;
  gsize queued_bytes;
  /* the frame that is being read */
  guint8 head_bytes[SBX_FRAME_HEAD_BYTES];
  gsize got;
  const SbxFrameRule *rule; /* NULL while the head is not whole */
  SbxFrameHead head;
  guint8 *payload;
  int fds[SBX_FRAME_MAX_FDS];
  guint n_fds;
};

static void
close_fds (int *fds, guint *n_fds)
{
  for (guint i = 0; i < *n_fds; i++)
    sbx_fd_close (fds[i]);
  *n_fds = 0;
}

static void
outgoing_free (Outgoing *self)
{
  close_fds (self->fds, &self->n_fds);
  g_clear_pointer (&self->rest, g_bytes_unref);
  g_free (self->bytes);
  g_free (self);
}

/* Sets *ret_piece to what is to be written next of it. FALSE at its end. */
static gboolean
outgoing_next (const Outgoing *self, struct iovec *ret_piece)
{
  gsize n_rest = 0;
  const char *rest = self->rest != NULL ? g_bytes_get_data (self->rest, &n_rest) : NULL;

  if (self->written < self->n_bytes)
    *ret_piece =
      (struct iovec){ .iov_base = self->bytes + self->written, .iov_len = self->n_bytes - self->written };
  else if (self->written < self->n_bytes + n_rest)
    *ret_piece = (struct iovec){ .iov_base = (char *) rest + (self->written - self->n_bytes),
                                 .iov_len = n_rest - (self->written - self->n_bytes) };
  else
    return FALSE;
  return TRUE;
}

static void
link_forget_incoming (SbxFrameLink *self)
{
  self->got = 0;
  self->rule = NULL;
  g_clear_pointer (&self->payload, g_free);
  close_fds (self->fds, &self->n_fds);
}

static void
link_stop_writing (SbxFrameLink *self)
{
  self->write_ended = TRUE;
  sbx_source_clear (&self->write_source);
  g_queue_clear_full (&self->outgoing, (GDestroyNotify) outgoing_free);
  self->queued_bytes = 0;
}

static void
link_stop (SbxFrameLink *self)
{
  self->closed = TRUE;
  sbx_source_clear (&self->read_source);
  link_stop_writing (self);
  link_forget_incoming (self);
  sbx_fd_close (g_steal_fd (&self->fd));
}

static void
link_unref (SbxFrameLink *self)
{
  if (g_ref_count_dec (&self->refs))
    g_free (self);
}

static void
link_break (SbxFrameLink *self, const GError *error)
{
  if (self->closed)
    return;
  link_stop (self);
  self->events->closed (self, error, self->user_data);
}

/* Takes the descriptors that came with a read; more than a frame may carry breaks the link. */
static gboolean
link_take_fds (SbxFrameLink *self, struct msghdr *message)
{
  gboolean fine = (message->msg_flags & MSG_CTRUNC) == 0;

  for (struct cmsghdr *c = CMSG_FIRSTHDR (message); c != NULL; c = CMSG_NXTHDR (message, c))
    {
      gsize n_fds = (c->cmsg_len - CMSG_LEN (0)) / sizeof (int);

      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        continue;
      for (gsize i = 0; i < n_fds; i++)
        {
          int fd;

          memcpy (&fd, CMSG_DATA (c) + i * sizeof fd, sizeof fd);
          if (self->n_fds < SBX_FRAME_MAX_FDS)
            self->fds[self->n_fds++] = fd;
          else
            {
              sbx_fd_close (fd);
              fine = FALSE;
            }
        }
    }
  return fine;
}

/* Reads up to n_bytes. Returns the count, 0 at the end, -1 with errno; EPROTO where descriptors came that
 * nobody expects. */
static gssize
link_read (SbxFrameLink *self, guint8 *place, gsize n_bytes)
{
  union {
    char bytes[CMSG_SPACE (sizeof (int) * SBX_FRAME_MAX_FDS)];
    struct cmsghdr align;
  } control;
  struct iovec vector = { .iov_base = place, .iov_len = n_bytes };
  struct msghdr message = {
    .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
  };
  gssize n = recvmsg (self->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

  if (n >= 0 && !link_take_fds (self, &message))
    {
      errno = EPROTO;
      return -1;
    }
  return n;
}

/* Hands a whole frame to the owner; the link may be gone or closed afterwards. */
static void
link_deliver (SbxFrameLink *self)
{
  g_autoptr (GBytes) payload = g_bytes_new_take (g_steal_pointer (&self->payload), self->head.n_bytes);
  int fds[SBX_FRAME_MAX_FDS] = { -1, -1 };
  SbxFrame frame = { .head = self->head, .payload = payload, .fds = fds, .n_fds = self->n_fds };
  gboolean fine = self->n_fds == self->rule->n_fds;

  memcpy (fds, self->fds, sizeof (int) * self->n_fds);
  self->n_fds = 0;
  link_forget_incoming (self);
  fine = fine && self->events->frame (self, &frame, self->user_data);
  for (guint i = 0; i < frame.n_fds; i++)
    sbx_fd_close (fds[i]);
  if (!fine && !self->closed)
    {
      g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                                                      "The peer sent a frame that breaks the rules");

      link_break (self, error);
    }
}

/* One read. Returns FALSE when the link broke. */
static gboolean
link_step (SbxFrameLink *self)
{
  g_autoptr (GError) error = NULL;
  gsize wanted = self->rule == NULL ? SBX_FRAME_HEAD_BYTES : self->head.n_bytes;
  guint8 *place = self->rule == NULL ? self->head_bytes : self->payload;
  gssize n = self->got < wanted ? link_read (self, place + self->got, wanted - self->got) : 0;

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return TRUE;
  if (n < 0)
    error =
      g_error_new_literal (G_IO_ERROR, g_io_error_from_errno (errno), "The connection to the peer broke");
  else if (n == 0 && (self->got > 0 || self->rule != NULL))
    error =
      g_error_new_literal (G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "The peer closed in the middle of a frame");
  if (n <= 0)
    {
      link_break (self, error);
      return FALSE;
    }

  self->got += (gsize) n;
  if (self->rule == NULL && self->got == SBX_FRAME_HEAD_BYTES)
    {
      self->rule = sbx_frame_head_read (self->head_bytes, self->rules, self->n_rules, &self->head, &error);
      if (self->rule == NULL)
        {
          link_break (self, error);
          return FALSE;
        }
      /* Grown with what is sent, not with what is announced, would save little: the table bounds it. */
      self->payload = g_malloc (MAX (self->head.n_bytes, 1));
      self->got = 0;
    }
  if (self->rule != NULL && self->got == self->head.n_bytes)
    link_deliver (self);
  return TRUE;
}

static gboolean
on_link_readable (int fd, GIOCondition condition, gpointer user_data)
{
  SbxFrameLink *self = user_data;

  g_ref_count_inc (&self->refs);
  /* A payload comes right behind its head. */
  if (link_step (self) && !self->closed && self->rule != NULL && self->got == 0)
    (void) link_step (self);
  link_unref (self);
  return G_SOURCE_CONTINUE; /* link_stop() destroys the source */
}

/* One write of it, with its descriptors where they are still to be sent. Returns as send() does. */
static gssize
link_write (SbxFrameLink *self, const Outgoing *outgoing, struct iovec *piece)
{
  gsize fds_bytes = sizeof (int) * outgoing->n_fds;
  union {
    char bytes[CMSG_SPACE (sizeof (int) * SBX_FRAME_MAX_FDS)];
    struct cmsghdr align;
  } control = { .bytes = { 0 } };
  struct msghdr message = {
    .msg_iov = piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE (fds_bytes)
  };

  /* The broker's syscall filter has no sendmsg: a process that never sends a descriptor must not be able to.
   */
  if (outgoing->n_fds == 0)
    return send (self->fd, piece->iov_base, piece->iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
  control.align.cmsg_level = SOL_SOCKET;
  control.align.cmsg_type = SCM_RIGHTS;
  control.align.cmsg_len = CMSG_LEN (fds_bytes);
  memcpy (CMSG_DATA (&control.align), outgoing->fds, fds_bytes);
  return sendmsg (self->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Writes what the kernel takes now. Returns FALSE with errno set on a broken connection. A peer that has
 * closed is no break: its last frames may lie unread, so the end is told by the read that comes to it. */
static gboolean
link_flush (SbxFrameLink *self)
{
  Outgoing *first;

  while ((first = g_queue_peek_head (&self->outgoing)) != NULL)
    {
      struct iovec piece;
      gssize n;

      if (!outgoing_next (first, &piece))
        {
          outgoing_free (g_queue_pop_head (&self->outgoing));
          continue;
        }
      n = link_write (self, first, &piece);
      if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
        {
          link_stop_writing (self);
          return TRUE;
        }
      if (n < 0)
        return errno == EAGAIN || errno == EINTR;
      close_fds (first->fds, &first->n_fds); /* sent with the first byte */
      first->written += (gsize) n;
      self->queued_bytes -= (gsize) n;
    }
  return TRUE;
}

static gboolean
on_link_writable (int fd, GIOCondition condition, gpointer user_data)
{
  SbxFrameLink *self = user_data;
  gboolean fine;

  g_ref_count_inc (&self->refs);
  fine = link_flush (self);
  if (!fine)
    {
      g_autoptr (GError) error =
        g_error_new_literal (G_IO_ERROR, g_io_error_from_errno (errno), "Cannot write to the peer");

      link_break (self, error);
    }
  else if (!self->closed && g_queue_is_empty (&self->outgoing))
    sbx_source_clear (&self->write_source);
  link_unref (self);
  return G_SOURCE_CONTINUE;
}

static GSource *
link_watch (SbxFrameLink *self, GIOCondition condition, GUnixFDSourceFunc callback)
{
  return sbx_source_watch_fd (self->fd, condition, G_PRIORITY_DEFAULT, callback, self);
}

SbxFrameLink *
sbx_frame_link_new (int fd, const SbxFrameRule *rules, gsize n_rules, const SbxFrameLinkEvents *events,
                    gpointer user_data)
{
  SbxFrameLink *self = g_new0 (SbxFrameLink, 1);

  g_ref_count_init (&self->refs);
  self->fd = fd;
  self->rules = rules;
  self->n_rules = n_rules;
  self->events = events;
  self->user_data = user_data;
  g_queue_init (&self->outgoing);
  (void) sbx_fd_set_nonblocking (fd, NULL); /* every call passes MSG_DONTWAIT as well */
  self->read_source = link_watch (self, G_IO_IN | G_IO_HUP | G_IO_ERR, on_link_readable);
  return self;
}

void
sbx_frame_link_free (SbxFrameLink *self)
{
  if (self == NULL)
    return;
  if (!self->closed)
    link_stop (self);
  link_unref (self);
}

gboolean
sbx_frame_link_send (SbxFrameLink *self, SbxFrameType type, guint32 id, GBytes *payload, const int *fds,
                     guint n_fds, GError **error)
{
  gsize payload_bytes = payload != NULL ? g_bytes_get_size (payload) : 0;
  SbxFrameHead head = { .type = type, .id = id, .n_bytes = (guint32) payload_bytes };
  gsize n_bytes = SBX_FRAME_HEAD_BYTES + payload_bytes;
  gsize n_copied = payload_bytes <= COPIED_BYTES ? payload_bytes : 0;
  Outgoing *outgoing;

  g_return_val_if_fail (n_fds <= SBX_FRAME_MAX_FDS, FALSE);

  if (self->closed || self->write_ended)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "The connection to the peer is closed");
      return FALSE;
    }
  if (n_bytes > SBX_FRAME_LINK_MAX_QUEUED - self->queued_bytes)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK, "The peer does not read");
      return FALSE;
    }

  outgoing = g_new0 (Outgoing, 1);
  outgoing->n_bytes = SBX_FRAME_HEAD_BYTES + n_copied;
  outgoing->bytes = g_malloc (outgoing->n_bytes);
  sbx_frame_head_write (&head, outgoing->bytes);
  if (n_copied > 0)
    memcpy (outgoing->bytes + SBX_FRAME_HEAD_BYTES, g_bytes_get_data (payload, NULL), n_copied);
  else if (payload_bytes > 0)
    outgoing->rest = g_bytes_ref (payload);
  for (guint i = 0; i < n_fds; i++)
    {
      int copy = fcntl (fds[i], F_DUPFD_CLOEXEC, 0);

      if (copy < 0)
        {
          int saved_errno = errno;

          outgoing_free (outgoing);
          g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved_errno),
                       "Cannot duplicate a descriptor: %s", g_strerror (saved_errno));
          return FALSE;
        }
      outgoing->fds[outgoing->n_fds++] = copy;
    }
  g_queue_push_tail (&self->outgoing, outgoing);
  self->queued_bytes += n_bytes;

  /* Tried at once: nearly every frame fits. A broken connection is told by the write source, from the loop,
   * so that the closed handler never runs inside a send. */
  if (self->write_source == NULL && (!link_flush (self) || !g_queue_is_empty (&self->outgoing)))
    self->write_source = link_watch (self, G_IO_OUT | G_IO_HUP | G_IO_ERR, on_link_writable);
  return TRUE;
}

gboolean
sbx_frame_link_send_packed (SbxFrameLink *self, SbxFrameType type, guint32 id, GByteArray *payload,
                            GError **error)
{
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (payload);

  return sbx_frame_link_send (self, type, id, bytes, NULL, 0, error);
}

int
sbx_frame_link_steal_fd (SbxFrameLink *self)
{
  int fd = -1;

  if (!self->closed && g_queue_is_empty (&self->outgoing) && self->got == 0 && self->rule == NULL)
    fd = g_steal_fd (&self->fd);
  sbx_frame_link_free (self);
  return fd;
}
