/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A Docker socket that follows a script: one step a connection, in order. In the same process and main loop.
 */
#pragma once

#include <gio/gio.h>

typedef enum {
  FAKE_CLOSE = 0,        /* answer, then close */
  FAKE_HOLD = 1 << 0,    /* answer, then keep the connection open */
  FAKE_DRIBBLE = 1 << 1, /* a byte an iteration of the main loop */
  FAKE_EARLY = 1 << 2,   /* answer without reading the request's body */
} FakeFlags;

typedef struct _FakeDocker FakeDocker;

FakeDocker *fake_docker_new (void);
void fake_docker_free (FakeDocker *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FakeDocker, fake_docker_free)
const char *fake_docker_path (FakeDocker *self);

/* The next connection's request must begin with expected ("GET /v1.41/info HTTP"); answer NULL: none. */
void
fake_docker_add (FakeDocker *self, const char *expected, const char *answer, gssize n_bytes, FakeFlags flags);
/* A whole answer with that status, with a length. */
void fake_docker_add_json (FakeDocker *self, const char *expected, guint status, const char *body);

/* What the n-th connection sent. Borrowed. */
const char *fake_docker_request (FakeDocker *self, guint n);
guint fake_docker_n_requests (FakeDocker *self);
/* The peer's socket of the n-th connection, as long as it is held. */
int fake_docker_fd (FakeDocker *self, guint n);

/* For GAsyncReadyCallback: keeps the result in a GAsyncResult *, which await_result() waits for. */
void keep_result (GObject *source, GAsyncResult *result, gpointer user_data);
GAsyncResult *await_result (GAsyncResult **result);
