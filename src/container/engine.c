/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/engine-private.h"

#include <string.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/names.h"
#include "container/http-call.h"

#define MAX_MESSAGE 400u

struct _SbxEngine {
  grefcount refs;
  char *socket_path;
  SbxHttpPool *pool; /* NULL: each call has a connection of its own */
};

typedef struct {
  SbxEngine *engine;
  SbxEngineAbout about;
  SbxEngineConvert convert;
  GDestroyNotify destroy;
} Ask;

G_DEFINE_QUARK (sbx - engine - error - quark, sbx_engine_error)

static SbxEngine *
engine_new (const char *socket_path, SbxHttpPool *pool)
{
  SbxEngine *self = g_new0 (SbxEngine, 1);

  g_ref_count_init (&self->refs);
  self->socket_path = g_strdup (socket_path != NULL ? socket_path : SBX_DOCKER_SOCKET);
  self->pool = pool;
  return self;
}

SbxEngine *
sbx_engine_new (const char *socket_path)
{
  return engine_new (socket_path, sbx_http_pool_new ());
}

SbxEngine *
sbx_engine_new_without_pool (SbxEngine *of)
{
  return engine_new (of->socket_path, NULL);
}

SbxEngine *
sbx_engine_ref (SbxEngine *self)
{
  g_ref_count_inc (&self->refs);
  return self;
}

void
sbx_engine_unref (SbxEngine *self)
{
  if (!g_ref_count_dec (&self->refs))
    return;
  sbx_http_pool_free (self->pool);
  g_free (self->socket_path);
  g_free (self);
}

const char *
sbx_engine_socket_path (SbxEngine *self)
{
  return self->socket_path;
}

const char *
sbx_engine_text (JsonObject *object, const char *name)
{
  const char *text = sbx_json_member_text (object, name);

  return text != NULL ? text : "";
}

JsonNode *
sbx_engine_read_object (GBytes *body, GError **error)
{
  gsize n_bytes = 0;
  const char *data = g_bytes_get_data (body, &n_bytes);
  g_autoptr (GError) cause = NULL;
  g_autoptr (JsonNode) node =
    sbx_json_read (data != NULL ? data : "", n_bytes, SBX_ENGINE_MAX_ANSWER, &cause);

  if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
    return g_steal_pointer (&node);
  g_set_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_ANSWER, "Docker's answer cannot be read: %s",
               cause != NULL ? cause->message : "it is not an object.");
  return NULL;
}

/* Docker's own words, on one bounded line. */
static char *
message_of (GBytes *body)
{
  g_autoptr (JsonNode) node = sbx_engine_read_object (body, NULL);
  const char *text = sbx_engine_text (sbx_json_node_object (node), "message");
  g_autofree char *cut = g_strndup (*text != '\0' ? text : "no message", MAX_MESSAGE);
  char *line = g_utf8_make_valid (cut, -1);

  for (char *c = line; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  return line;
}

static SbxEngineError
error_code (SbxEngineAbout about, guint status, const char *message)
{
  if (status == 404 && (about == SBX_ENGINE_ABOUT_IMAGE || about == SBX_ENGINE_ABOUT_CREATE))
    return SBX_ENGINE_ERROR_IMAGE_MISSING;
  if (status == 404 && about == SBX_ENGINE_ABOUT_CONTAINER)
    return SBX_ENGINE_ERROR_NOT_FOUND;
  if (status == 409 && about == SBX_ENGINE_ABOUT_CREATE)
    return SBX_ENGINE_ERROR_NAME_TAKEN;
  if (status == 409 && strstr (message, "already in progress") != NULL)
    return SBX_ENGINE_ERROR_IN_PROGRESS;
  if (status == 409)
    return SBX_ENGINE_ERROR_CONFLICT;
  return SBX_ENGINE_ERROR_REFUSED;
}

void
sbx_engine_set_error (GError **error, SbxEngineAbout about, guint status, GBytes *body)
{
  g_autofree char *message = message_of (body);

  g_set_error (error, SBX_ENGINE_ERROR, (gint) error_code (about, status, message), "Docker refused (%u): %s",
               status, message);
}

static void
ask_free (Ask *self)
{
  sbx_engine_unref (self->engine);
  g_free (self);
}

static void
ask_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  Ask *self = g_task_get_task_data (task);
  GError *error = NULL;
  guint status = 0;
  gpointer value = NULL;
  g_autoptr (GBytes) body = sbx_http_call_finish (result, &status, &error);

  if (body != NULL && status >= 400)
    sbx_engine_set_error (&error, self->about, status, body);
  else if (body != NULL && self->convert != NULL)
    value = self->convert (status, body, &error);
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, value, self->destroy);
}

void
sbx_engine_ask (SbxEngine *self, const SbxEngineAsk *ask, GCancellable *cancellable,
                GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  g_autofree char *given = ask->path;
  g_autofree char *path = g_strconcat (SBX_DOCKER_API, given, NULL);
  g_autoptr (GBytes) body = ask->body;
  guint timeout_ms = ask->timeout_ms > 0 ? ask->timeout_ms : SBX_ENGINE_DEFAULT_TIMEOUT_MS;
  Ask *state = g_new0 (Ask, 1);

  g_task_set_check_cancellable (task, FALSE); /* what was done is said, also when a cancel came just after */
  state->engine = sbx_engine_ref (self);
  state->about = ask->about;
  state->convert = ask->convert;
  state->destroy = ask->destroy;
  g_task_set_task_data (task, state, (GDestroyNotify) ask_free);
  sbx_http_call_async (
    &(SbxHttpRequest){
      .socket_path = self->socket_path,
      .method = ask->method,
      .path = path,
      .content_type = ask->content_type,
      .body = body,
      .stream = ask->stream,
      .timeout_ms = ask->endless ? 0 : timeout_ms,
      .pool = ask->alone ? NULL : self->pool,
      /* Starting, killing and removing twice does no more than once; creating might. */
      .repeatable = ask->about != SBX_ENGINE_ABOUT_CREATE,
    },
    cancellable, ask_done, task);
}

gboolean
sbx_engine_ask_finish (GAsyncResult *result, GError **error)
{
  gboolean done = !g_task_had_error (G_TASK (result));

  (void) g_task_propagate_pointer (G_TASK (result), error);
  return done;
}

/* --- the daemon --- */

void
sbx_engine_info_free (SbxEngineInfo *info)
{
  if (info == NULL)
    return;
  g_free (info->server_version);
  g_free (info->cgroup_driver);
  g_free (info->cgroup_version);
  g_strfreev (info->runtimes);
  g_free (info->runc);
  g_free (info);
}

static gboolean
has_security_option (JsonObject *object, const char *option)
{
  JsonArray *options = sbx_json_member_list (object, "SecurityOptions");

  for (guint i = 0; options != NULL && i < json_array_get_length (options); i++)
    if (g_strcmp0 (sbx_json_node_text (json_array_get_element (options, i)), option) == 0)
      return TRUE;
  return FALSE;
}

static gpointer
convert_info (guint status, GBytes *body, GError **error)
{
  g_autoptr (JsonNode) node = sbx_engine_read_object (body, error);
  g_autoptr (GStrvBuilder) runtimes = g_strv_builder_new ();
  SbxEngineInfo *info = NULL;
  JsonObject *object = NULL;
  JsonObject *runtimes_by_name = NULL;

  if (node == NULL)
    return NULL;
  object = json_node_get_object (node);
  info = g_new0 (SbxEngineInfo, 1);
  info->server_version = g_strdup (sbx_engine_text (object, "ServerVersion"));
  info->cgroup_driver = g_strdup (sbx_engine_text (object, "CgroupDriver"));
  info->cgroup_version = g_strdup (sbx_engine_text (object, "CgroupVersion"));
  (void) sbx_json_member_integer (object, "ContainersRunning", &info->containers_running);
  runtimes_by_name = sbx_json_member_object (object, "Runtimes");
  if (runtimes_by_name != NULL)
    {
      g_autoptr (GList) names = json_object_get_members (runtimes_by_name);

      for (GList *name = names; name != NULL; name = name->next)
        g_strv_builder_add (runtimes, name->data);
    }
  info->runtimes = g_strv_builder_end (runtimes);
  info->runc = g_strdup (sbx_engine_text (sbx_json_member_object (object, "RuncCommit"), "ID"));
  info->apparmor = has_security_option (object, "name=apparmor");
  return info;
}

void
sbx_engine_info_async (SbxEngine *self, guint timeout_ms, GCancellable *cancellable,
                       GAsyncReadyCallback callback, gpointer user_data)
{
  sbx_engine_ask (self,
                  &(SbxEngineAsk){
                    .about = SBX_ENGINE_ABOUT_DAEMON,
                    .method = "GET",
                    .path = g_strdup ("/info"),
                    .timeout_ms = timeout_ms,
                    .convert = convert_info,
                    .destroy = (GDestroyNotify) sbx_engine_info_free,
                  },
                  cancellable, callback, user_data);
}

SbxEngineInfo *
sbx_engine_info_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
