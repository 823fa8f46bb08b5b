/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the engine's files share: one call, and what becomes of its answer. */
#pragma once

#include <json-glib/json-glib.h>

#include "container/engine.h"

/* Turns an answer into the operation's value. status is below 400. NULL with error set. */
typedef gpointer (*SbxEngineConvert) (guint status, GBytes *body, GError **error);

/* What an error status means depends on what was asked. */
typedef enum {
  SBX_ENGINE_ABOUT_DAEMON,
  SBX_ENGINE_ABOUT_IMAGE,
  SBX_ENGINE_ABOUT_CREATE, /* 404 is the image, 409 the name */
  SBX_ENGINE_ABOUT_CONTAINER,
} SbxEngineAbout;

typedef struct {
  SbxEngineAbout about;
  const char *method;
  char *path; /* taken; behind the API's version */
  const char *content_type;
  GBytes *body; /* taken */
  GInputStream *stream;
  gboolean alone;           /* on a connection of its own: whoever answers takes new ones still */
  guint timeout_ms;         /* 0: SBX_ENGINE_DEFAULT_TIMEOUT_MS */
  gboolean endless;         /* no limit, whatever timeout_ms */
  SbxEngineConvert convert; /* NULL: any success will do */
  GDestroyNotify destroy;   /* of what convert gives */
} SbxEngineAsk;

void sbx_engine_ask (SbxEngine *self, const SbxEngineAsk *ask, GCancellable *cancellable,
                     GAsyncReadyCallback callback, gpointer user_data);
/* Of a call that has no value: convert is NULL, or gives NULL on success too. */
gboolean sbx_engine_ask_finish (GAsyncResult *result, GError **error);

const char *sbx_engine_socket_path (SbxEngine *self);

/* The error of an answer with a status of 400 and more. */
void sbx_engine_set_error (GError **error, SbxEngineAbout about, guint status, GBytes *body);

/* The answer as an object; NULL with error set. */
JsonNode *sbx_engine_read_object (GBytes *body, GError **error);
/* A member's text (base/json-member.h), or "". */
const char *sbx_engine_text (JsonObject *object, const char *name);
