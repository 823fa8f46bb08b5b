/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/engine-private.h"

#include <string.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/names.h"
#include "sbx-config.h"

#define LOAD_TIMEOUT_MS 300000u

void
sbx_image_free (SbxImage *image)
{
  if (image == NULL)
    return;
  g_free (image->id);
  g_free (image->worker_version);
  g_free (image);
}

static char *
inspect_path (const char *image)
{
  g_autofree char *name = g_uri_escape_string (image, "/:@", FALSE);

  return g_strconcat ("/images/", name, "/json", NULL);
}

static gboolean
is_worker (JsonArray *entrypoint)
{
  return entrypoint != NULL && json_array_get_length (entrypoint) == 1
         && g_strcmp0 (sbx_json_node_text (json_array_get_element (entrypoint, 0)), SBX_WORKER_PROGRAM) == 0;
}

static gpointer
convert_image (guint status, GBytes *body, GError **error)
{
  g_autoptr (JsonNode) node = sbx_engine_read_object (body, error);
  SbxImage *image = NULL;
  JsonObject *config = NULL;
  JsonObject *labels = NULL;

  if (node == NULL)
    return NULL;
  image = g_new0 (SbxImage, 1);
  image->id = g_strdup (sbx_engine_text (json_node_get_object (node), "Id"));
  config = sbx_json_member_object (json_node_get_object (node), "Config");
  labels = sbx_json_member_object (config, "Labels");
  if (labels != NULL && json_object_has_member (labels, SBX_LABEL_WORKER))
    image->worker_version = g_strdup (sbx_engine_text (labels, SBX_LABEL_WORKER));
  image->keeps_input = g_strcmp0 (image->worker_version, SBX_VERSION) == 0
                       && is_worker (sbx_json_member_list (config, "Entrypoint"));
  return image;
}

void
sbx_engine_image_inspect_async (SbxEngine *self, const char *image, guint timeout_ms,
                                GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  sbx_engine_ask (self,
                  &(SbxEngineAsk){
                    .about = SBX_ENGINE_ABOUT_IMAGE,
                    .method = "GET",
                    .path = inspect_path (image),
                    .timeout_ms = timeout_ms,
                    .convert = convert_image,
                    .destroy = (GDestroyNotify) sbx_image_free,
                  },
                  cancellable, callback, user_data);
}

SbxImage *
sbx_engine_image_inspect_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

/* Loading answers 200 and then reports line by line; a failure is a line with a member "error". */
static gpointer
convert_progress (guint status, GBytes *body, GError **error)
{
  gsize n_bytes = 0;
  const char *data = g_bytes_get_data (body, &n_bytes);
  g_autofree char *text = g_strndup (data != NULL ? data : "", n_bytes);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    {
      g_autoptr (JsonNode) node = NULL;
      const char *message = NULL;

      g_strstrip (*line);
      if (**line == '\0')
        continue;
      node = sbx_json_read (*line, strlen (*line), SBX_ENGINE_MAX_ANSWER, NULL);
      message = sbx_engine_text (sbx_json_node_object (node), "error");
      if (*message != '\0')
        {
          g_set_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_REFUSED,
                       "Docker could not load the image: %s", message);
          return NULL;
        }
    }
  return NULL;
}

void
sbx_engine_image_load_async (SbxEngine *self, GInputStream *tar, guint timeout_ms, GCancellable *cancellable,
                             GAsyncReadyCallback callback, gpointer user_data)
{
  sbx_engine_ask (self,
                  &(SbxEngineAsk){
                    .about = SBX_ENGINE_ABOUT_IMAGE,
                    .method = "POST",
                    .path = g_strdup ("/images/load?quiet=1"),
                    .content_type = "application/x-tar",
                    .stream = tar,
                    .timeout_ms = timeout_ms > 0 ? timeout_ms : LOAD_TIMEOUT_MS,
                    .convert = convert_progress,
                  },
                  cancellable, callback, user_data);
}

gboolean
sbx_engine_image_load_finish (GAsyncResult *result, GError **error)
{
  return sbx_engine_ask_finish (result, error);
}
