/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A connected stream socket that carries frames, as sources of the thread-default main context.
 *
 * Reads at most one frame a dispatch, so that a flooding peer cannot starve other sources. What cannot be
 * written at once is queued up to a bound; a peer that does not read makes sbx_frame_link_send() fail, never
 * the process grow. Plain descriptors only (no GSocket): the link must work behind the broker's seccomp
 * filter.
 */
#pragma once

#include <glib.h>

#include "wire/frame.h"

typedef struct _SbxFrameLink SbxFrameLink;

typedef struct {
  SbxFrameHead head;
  GBytes *payload; /* borrowed for the call; g_bytes_ref() to keep */
  int *fds; /* n_fds of them, close-on-exec; g_steal_fd() takes one, what is left is closed after the call */
  guint n_fds;
} SbxFrame;

typedef struct {
  /* A frame of the table came. Returning FALSE (no error needed) ends the link as if the peer had broken the
   * rules. The handler may free the link. */
  gboolean (*frame) (SbxFrameLink *link, SbxFrame *frame, gpointer user_data);
  /* Called once, when the peer closed and all that it had sent was delivered (error is NULL, or says that it
   * left our bytes unread), or when the link broke. No event follows. The handler may free the link. Not
   * called by sbx_frame_link_free(). */
  void (*closed) (SbxFrameLink *link, const GError *error, gpointer user_data);
} SbxFrameLinkEvents;

/* The most that waits to be written, in bytes: two of the largest frames there are. */
#define SBX_FRAME_LINK_MAX_QUEUED (2u * (1024u * 1024u + 4096u))

/* Takes fd, a connected stream socket, and makes it non-blocking. rules and events must outlive the link. */
SbxFrameLink *sbx_frame_link_new (int fd, const SbxFrameRule *rules, gsize n_rules,
                                  const SbxFrameLinkEvents *events, gpointer user_data);

/* Stops at once: drops what is queued and closes the descriptor. NULL is fine. */
void sbx_frame_link_free (SbxFrameLink *self);

/* Queues a frame. payload may be NULL (empty); fds are duplicated, the caller keeps its own (SCM_RIGHTS,
 * unix(7)). FALSE with error set when the link is closed (G_IO_ERROR_CLOSED) or the queue is full
 * (G_IO_ERROR_WOULD_BLOCK).
 */
gboolean sbx_frame_link_send (SbxFrameLink *self, SbxFrameType type, guint32 id, GBytes *payload,
                              const int *fds, guint n_fds, GError **error);

/* As above; takes the payload array. */
gboolean sbx_frame_link_send_packed (SbxFrameLink *self, SbxFrameType type, guint32 id, GByteArray *payload,
                                     GError **error);

/* Hands the descriptor over and frees the link, for a connection that somebody else goes on with. -1, with
 * the link freed all the same, when bytes are queued or a frame was half read: the stream would be torn. */
int sbx_frame_link_steal_fd (SbxFrameLink *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxFrameLink, sbx_frame_link_free)
