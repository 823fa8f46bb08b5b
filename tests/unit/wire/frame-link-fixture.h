/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A frame link under test, what its owner saw, and a peer that says what it likes. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/frame-link.h"

#define LARGE_BYTES (1024u * 1024u)

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

/* Another link on fd, which it takes, that tells self what it sees. */
SbxFrameLink *fixture_link_new (Fixture *self, int fd);
void fixture_init (Fixture *self);
void fixture_clear (Fixture *self);
/* Runs the loop until nothing is ready any more. */
void settle (void);
void run_until_closed (Fixture *fixture);
void run_until_frames (Fixture *fixture, guint n_frames);
/* A frame as bytes, whatever the rules say. */
GByteArray *raw_frame (guint type, guint32 id, const char *payload);
void peer_write (Fixture *fixture, gconstpointer data, gsize n_bytes);
void peer_send (Fixture *fixture, guint type, guint32 id, const char *payload);
/* The same, with n_fds descriptors of /dev/null. */
void peer_send_fds (Fixture *fixture, guint type, const char *payload, guint n_fds);
void peer_close (Fixture *fixture);
guint count_fds (void);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)
