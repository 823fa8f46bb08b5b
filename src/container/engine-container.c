/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/engine-private.h"

#include <string.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/json-write.h"

static char *
container_path (const char *id, const char *tail)
{
  g_autofree char *escaped = g_uri_escape_string (id, NULL, FALSE);

  return g_strconcat ("/containers/", escaped, tail, NULL);
}

static void
ask_container (SbxEngine *self, const char *method, const char *id, const char *tail, guint timeout_ms,
               GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  sbx_engine_ask (self,
                  &(SbxEngineAsk){
                    .about = SBX_ENGINE_ABOUT_CONTAINER,
                    .method = method,
                    .path = container_path (id, tail),
                    .timeout_ms = timeout_ms,
                  },
                  cancellable, callback, user_data);
}

/* --- create --- */

static gpointer
convert_created (guint status, GBytes *body, GError **error)
{
  g_autoptr (JsonNode) node = sbx_engine_read_object (body, error);
  const char *id = NULL;

  if (node == NULL)
    return NULL;
  id = sbx_engine_text (json_node_get_object (node), "Id");
  if (*id != '\0')
    return g_strdup (id);
  g_set_error_literal (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_ANSWER,
                       "Docker made a container but named no id.");
  return NULL;
}

void
sbx_engine_container_create_async (SbxEngine *self, const char *name, const char *body, guint timeout_ms,
                                   GCancellable *cancellable, GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  g_autofree char *escaped = g_uri_escape_string (name, NULL, FALSE);

  sbx_engine_ask (self,
                  &(SbxEngineAsk){
                    .about = SBX_ENGINE_ABOUT_CREATE,
                    .method = "POST",
                    .path = g_strconcat ("/containers/create?name=", escaped, NULL),
                    .content_type = "application/json",
                    .body = g_bytes_new (body, strlen (body)),
                    .timeout_ms = timeout_ms,
                    .convert = convert_created,
                    .destroy = g_free,
                  },
                  cancellable, callback, user_data);
}

char *
sbx_engine_container_create_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

/* --- start, kill, delete --- */

void
sbx_engine_container_start_async (SbxEngine *self, const char *id, guint timeout_ms,
                                  GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  ask_container (self, "POST", id, "/start", timeout_ms, cancellable, callback, user_data);
}

gboolean
sbx_engine_container_start_finish (GAsyncResult *result, GError **error)
{
  return sbx_engine_ask_finish (result, error);
}

void
sbx_engine_container_delete_async (SbxEngine *self, const char *id, guint timeout_ms,
                                   GCancellable *cancellable, GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  ask_container (self, "DELETE", id, "?force=1&v=1", timeout_ms, cancellable, callback, user_data);
}

gboolean
sbx_engine_container_delete_finish (GAsyncResult *result, GError **error)
{
  return sbx_engine_ask_finish (result, error);
}

/* --- wait --- */

static gpointer
convert_waited (guint status, GBytes *body, GError **error)
{
  g_autoptr (JsonNode) node = sbx_engine_read_object (body, error);
  const char *message = NULL;
  JsonObject *object = NULL;
  gint64 exit_status = 0;

  if (node == NULL)
    return NULL;
  object = json_node_get_object (node);
  message = sbx_engine_text (sbx_json_member_object (object, "Error"), "Message");
  if (*message != '\0' || !json_object_has_member (object, "StatusCode"))
    {
      g_set_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_REFUSED,
                   "Docker could not wait for the container: %s",
                   *message != '\0' ? message : "no exit status");
      return NULL;
    }
  (void) sbx_json_member_integer (object, "StatusCode", &exit_status);
  return g_memdup2 (&exit_status, sizeof exit_status);
}

void
sbx_engine_container_wait_async (SbxEngine *self, const char *id, guint timeout_ms, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data)
{
  sbx_engine_ask (self,
                  &(SbxEngineAsk){
                    .about = SBX_ENGINE_ABOUT_CONTAINER,
                    .method = "POST",
                    .path = container_path (id, "/wait?condition=not-running"),
                    .timeout_ms = timeout_ms,
                    .endless = timeout_ms == 0,
                    .convert = convert_waited,
                    .destroy = g_free,
                  },
                  cancellable, callback, user_data);
}

gboolean
sbx_engine_container_wait_finish (GAsyncResult *result, gint64 *ret_exit_status, GError **error)
{
  g_autofree gint64 *exit_status = g_task_propagate_pointer (G_TASK (result), error);

  if (exit_status == NULL)
    return FALSE;
  *ret_exit_status = *exit_status;
  return TRUE;
}

/* --- inspect --- */

void
sbx_container_state_free (SbxContainerState *state)
{
  if (state == NULL)
    return;
  g_free (state->id);
  g_free (state->name);
  g_free (state->status);
  g_free (state->error);
  g_free (state);
}

static const char *
plain_name (const char *name)
{
  return *name == '/' ? name + 1 : name;
}

static gpointer
convert_state (guint status, GBytes *body, GError **error)
{
  g_autoptr (JsonNode) node = sbx_engine_read_object (body, error);
  SbxContainerState *result = NULL;
  JsonObject *object = NULL;
  JsonObject *state = NULL;

  if (node == NULL)
    return NULL;
  object = json_node_get_object (node);
  state = sbx_json_member_object (object, "State");
  result = g_new0 (SbxContainerState, 1);
  result->id = g_strdup (sbx_engine_text (object, "Id"));
  result->name = g_strdup (plain_name (sbx_engine_text (object, "Name")));
  result->status = g_strdup (sbx_engine_text (state, "Status"));
  (void) sbx_json_member_boolean (state, "Running", &result->running);
  (void) sbx_json_member_boolean (state, "OOMKilled", &result->oom_killed);
  (void) sbx_json_member_integer (state, "ExitCode", &result->exit_status);
  (void) sbx_json_member_integer (state, "Pid", &result->pid);
  result->error = g_strdup (sbx_engine_text (state, "Error"));
  return result;
}

void
sbx_engine_container_inspect_async (SbxEngine *self, const char *id, guint timeout_ms,
                                    GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
  sbx_engine_ask (self,
                  &(SbxEngineAsk){
                    .about = SBX_ENGINE_ABOUT_CONTAINER,
                    .method = "GET",
                    .path = container_path (id, "/json"),
                    .alone = TRUE,
                    .timeout_ms = timeout_ms,
                    .convert = convert_state,
                    .destroy = (GDestroyNotify) sbx_container_state_free,
                  },
                  cancellable, callback, user_data);
}

SbxContainerState *
sbx_engine_container_inspect_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

/* --- list --- */

static void
container_info_free (SbxContainerInfo *info)
{
  g_free (info->id);
  g_free (info->name);
  g_free (info->state);
  g_hash_table_unref (info->labels);
  g_free (info);
}

static SbxContainerInfo *
read_info (JsonObject *object)
{
  SbxContainerInfo *info = g_new0 (SbxContainerInfo, 1);
  JsonArray *names = sbx_json_member_list (object, "Names");
  JsonObject *labels = sbx_json_member_object (object, "Labels");
  const char *name = NULL;

  info->id = g_strdup (sbx_engine_text (object, "Id"));
  info->state = g_strdup (sbx_engine_text (object, "State"));
  info->labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (names != NULL && json_array_get_length (names) > 0)
    name = sbx_json_node_text (json_array_get_element (names, 0));
  info->name = g_strdup (name != NULL ? plain_name (name) : "");
  if (labels != NULL)
    {
      g_autoptr (GList) members = json_object_get_members (labels);

      for (GList *member = members; member != NULL; member = member->next)
        g_hash_table_insert (info->labels, g_strdup (member->data),
                             g_strdup (sbx_engine_text (labels, member->data)));
    }
  return info;
}

static gpointer
convert_list (guint status, GBytes *body, GError **error)
{
  gsize n_bytes = 0;
  const char *data = g_bytes_get_data (body, &n_bytes);
  g_autoptr (JsonNode) node = sbx_json_read (data != NULL ? data : "", n_bytes, SBX_ENGINE_MAX_ANSWER, NULL);
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) container_info_free);
  JsonArray *containers = sbx_json_node_list (node);

  if (containers == NULL)
    {
      g_set_error_literal (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_ANSWER,
                           "Docker's list of containers cannot be read.");
      return NULL;
    }
  for (guint i = 0; i < json_array_get_length (containers); i++)
    {
      JsonObject *element = sbx_json_node_object (json_array_get_element (containers, i));

      if (element != NULL)
        g_ptr_array_add (list, read_info (element));
    }
  return g_steal_pointer (&list);
}

void
sbx_engine_container_list_async (SbxEngine *self, const char *label, guint timeout_ms,
                                 GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GString) filters = g_string_new ("{\"label\":[");
  g_autofree char *escaped = NULL;

  sbx_json_write_text (filters, label, -1);
  g_string_append (filters, "]}");
  escaped = g_uri_escape_string (filters->str, NULL, FALSE);
  sbx_engine_ask (self,
                  &(SbxEngineAsk){
                    .about = SBX_ENGINE_ABOUT_DAEMON,
                    .method = "GET",
                    .path = g_strconcat ("/containers/json?all=1&filters=", escaped, NULL),
                    .timeout_ms = timeout_ms,
                    .convert = convert_list,
                    .destroy = (GDestroyNotify) g_ptr_array_unref,
                  },
                  cancellable, callback, user_data);
}

GPtrArray *
sbx_engine_container_list_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
