/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "fake-egress.h"

#include <glib-unix.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/frame-link.h"
#include "wire/grant.h"

struct _FakeEgress {
  char *directory;
  char *path;
  int fd;
  guint source;
  GPtrArray *links;
  SbxFailure announce, charge, scan;
  guint n_announced, n_charged, n_scanned;
};

static gboolean
answer (SbxFrameLink *link, SbxFrame *frame, SbxFrameType type, SbxFailure failure)
{
  if (failure == SBX_FAILURE_INTERNAL)
    return FALSE;
  return sbx_frame_link_send_packed (link, type, frame->head.id, sbx_grant_verdict_encode (failure), NULL);
}

static gboolean
on_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  FakeEgress *self = user_data;

  switch ((guint) frame->head.type)
    {
    case SBX_FRAME_ANNOUNCE:
      self->n_announced++;
      return answer (link, frame, SBX_FRAME_GRANTED, self->announce);
    case SBX_FRAME_CHARGE:
      self->n_charged++;
      return answer (link, frame, SBX_FRAME_CHARGED, self->charge);
    case SBX_FRAME_SCAN:
      self->n_scanned++;
      return answer (link, frame, SBX_FRAME_SCANNED, self->scan);
    case SBX_FRAME_SERVICE:
      return TRUE;
    default:
      return FALSE;
    }
}

static void
on_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  FakeEgress *self = user_data;

  g_ptr_array_remove (self->links, link);
}

static const SbxFrameLinkEvents events = { on_frame, on_closed };

static gboolean
on_incoming (int fd, GIOCondition condition, gpointer user_data)
{
  FakeEgress *self = user_data;
  int peer = accept4 (fd, NULL, NULL, SOCK_CLOEXEC);

  g_assert_cmpint (peer, >=, 0);
  g_ptr_array_add (
    self->links, sbx_frame_link_new (peer, sbx_grant_rules_egress, sbx_grant_n_rules_egress, &events, self));
  return G_SOURCE_CONTINUE;
}

FakeEgress *
fake_egress_new (void)
{
  FakeEgress *self = g_new0 (FakeEgress, 1);
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  self->directory = g_dir_make_tmp ("sbx-egress-XXXXXX", NULL);
  self->path = g_build_filename (self->directory, "sock", NULL);
  self->links = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_frame_link_free);
  self->fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_strlcpy (address.sun_path, self->path, sizeof address.sun_path);
  g_assert_no_errno (bind (self->fd, (struct sockaddr *) &address, sizeof address));
  g_assert_no_errno (listen (self->fd, 16));
  self->source = g_unix_fd_add (self->fd, G_IO_IN, on_incoming, self);
  return self;
}

void
fake_egress_free (FakeEgress *self)
{
  g_source_remove (self->source);
  g_ptr_array_unref (self->links);
  close (self->fd);
  g_unlink (self->path);
  g_rmdir (self->directory);
  g_free (self->path);
  g_free (self->directory);
  g_free (self);
}

const char *
fake_egress_path (FakeEgress *self)
{
  return self->path;
}

void
fake_egress_answer_announce (FakeEgress *self, SbxFailure failure)
{
  self->announce = failure;
}

void
fake_egress_answer_charge (FakeEgress *self, SbxFailure failure)
{
  self->charge = failure;
}

void
fake_egress_answer_scan (FakeEgress *self, SbxFailure failure)
{
  self->scan = failure;
}

guint
fake_egress_n_announced (FakeEgress *self)
{
  return self->n_announced;
}

guint
fake_egress_n_charged (FakeEgress *self)
{
  return self->n_charged;
}

guint
fake_egress_n_scanned (FakeEgress *self)
{
  return self->n_scanned;
}

guint
fake_egress_n_open (FakeEgress *self)
{
  return self->links->len;
}
