/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A Docker socket that follows a script: one step a request, in order. Questions for events are none of the
 * script's: each is answered, and its connection held. In the same process and main loop. */
#pragma once

#include <gio/gio.h>

typedef enum {
  FAKE_CLOSE = 0, /* answer, then close */
  FAKE_HOLD =
    1 << 0, /* answer, then wait for the connection's next request; behind an upgrade, for nothing */
  FAKE_DRIBBLE = 1 << 1,  /* a byte an iteration of the main loop */
  FAKE_EARLY = 1 << 2,    /* answer without reading the request's body */
  FAKE_ANY_TIME = 1 << 3, /* may come before or behind its place in the script */
  FAKE_PERHAPS = 1 << 4,  /* may not come at all */
} FakeFlags;

typedef struct _FakeDocker FakeDocker;

FakeDocker *fake_docker_new (void);
void fake_docker_free (FakeDocker *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FakeDocker, fake_docker_free)
const char *fake_docker_path (FakeDocker *self);

/* The next request must begin with expected ("GET /v1.41/info HTTP"; a * stands for anything); answer NULL:
 * none. */
void
fake_docker_add (FakeDocker *self, const char *expected, const char *answer, gssize n_bytes, FakeFlags flags);
/* A whole answer with that status, with a length. */
void fake_docker_add_json (FakeDocker *self, const char *expected, guint status, const char *body);

/* The n-th request. Borrowed. */
const char *fake_docker_request (FakeDocker *self, guint n);
guint fake_docker_n_requests (FakeDocker *self);
/* Connections that were ever made, those for events too. */
guint fake_docker_n_connections (FakeDocker *self);
/* The peer's socket of the n-th request, as long as it is held. */
int fake_docker_fd (FakeDocker *self, guint n);
void fake_docker_close (FakeDocker *self, guint n);

/* An event of some image. FALSE where nobody has asked for any. */
gboolean fake_docker_tell_event (FakeDocker *self);
/* Hangs up on whoever asked for events, as a Docker that ends. */
void fake_docker_end_events (FakeDocker *self);

/* For GAsyncReadyCallback: keeps the result in a GAsyncResult *, which await_result() waits for. */
void keep_result (GObject *source, GAsyncResult *result, gpointer user_data);
GAsyncResult *await_result (GAsyncResult **result);
