/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/endpoints.h"

#include <string.h>

#include "base/log.h"
#include "wire/failure.h"

struct _SbxEndpoints {
  grefcount refs;
  SbxSettings *settings;
  SbxTarget *model;
  GPtrArray *targets; /* of SbxTarget, the model among them */
  SbxReflection *reflection;
  guint64 reflected; /* sum of the credentials' generations that reflection was made from */
};

static void
target_free (gpointer data)
{
  SbxTarget *self = data;

  sbx_credential_free (self->credential);
  g_free (self->state.session);
  g_free (self->state.version);
  g_free (self);
}

static SbxTarget *
add_target (SbxEndpoints *self, const char *name, const SbxEndpoint *endpoint, const SbxMcpServer *server)
{
  SbxTarget *target = g_new0 (SbxTarget, 1);

  target->name = name;
  target->endpoint = endpoint;
  target->server = server;
  if (endpoint->key_file[0] != '\0')
    target->credential = sbx_credential_new (endpoint->key_file);
  g_ptr_array_add (self->targets, target);
  return target;
}

gboolean
sbx_endpoints_check_keys (SbxEndpoints *self, GPtrArray *complaints)
{
  gboolean fine = TRUE;

  for (guint i = 0; i < self->targets->len; i++)
    {
      SbxTarget *target = g_ptr_array_index (self->targets, i);
      g_autoptr (GError) error = NULL;

      if (target->credential == NULL)
        continue;
      if (sbx_credential_get (target->credential, &error) == NULL)
        {
          g_ptr_array_add (complaints, g_strdup (error->message));
          fine = FALSE;
        }
      else if (sbx_credential_is_exposed (target->credential))
        g_ptr_array_add (
          complaints,
          g_strdup_printf ("The key file %s can be read by every user: set its mode to 0400 and its "
                           "owner to sandbox-egress",
                           sbx_credential_path (target->credential)));
    }
  return fine;
}

SbxEndpoints *
sbx_endpoints_load (const char *root, GPtrArray *warnings, GError **error)
{
  g_autoptr (SbxEndpoints) self = g_new0 (SbxEndpoints, 1);

  g_ref_count_init (&self->refs);
  self->targets = g_ptr_array_new_with_free_func (target_free);
  self->settings = sbx_settings_load (root, warnings, error);
  if (self->settings == NULL)
    return NULL;
  if (self->settings->config->model->url[0] != '\0')
    self->model = add_target (self, "model", self->settings->config->model, NULL);
  for (guint i = 0; i < self->settings->servers->len; i++)
    {
      const SbxMcpServer *server = g_ptr_array_index (self->settings->servers, i);

      (void) add_target (self, server->name, server->endpoint, server);
    }
  return g_steal_pointer (&self);
}

SbxEndpoints *
sbx_endpoints_ref (SbxEndpoints *self)
{
  g_ref_count_inc (&self->refs);
  return self;
}

void
sbx_endpoints_unref (SbxEndpoints *self)
{
  if (self == NULL || !g_ref_count_dec (&self->refs))
    return;
  g_ptr_array_unref (self->targets);
  sbx_settings_free (self->settings);
  sbx_reflection_free (self->reflection);
  g_free (self);
}

const SbxConfig *
sbx_endpoints_config (SbxEndpoints *self)
{
  return self->settings->config;
}

SbxTarget *
sbx_endpoints_model (SbxEndpoints *self)
{
  return self->model;
}

SbxTarget *
sbx_endpoints_server (SbxEndpoints *self, const char *name)
{
  for (guint i = 0; i < self->targets->len; i++)
    {
      SbxTarget *target = g_ptr_array_index (self->targets, i);

      if (target->server != NULL && strcmp (target->name, name) == 0)
        return target;
    }
  return NULL;
}

gboolean
sbx_target_take_key (SbxTarget *self, SbxSecret **ret_key)
{
  g_autoptr (GError) error = NULL;
  SbxSecret *key;

  *ret_key = NULL;
  if (self->credential == NULL)
    return TRUE;
  key = sbx_credential_get (self->credential, &error);
  if (key == NULL)
    {
      const char *const more[] = { "SANDBOX_ENDPOINT", self->name, NULL };

      if (!self->key_was_bad)
        sbx_log_event (SBX_LOG_ID_KEY_UNREADABLE, LOG_ERR,
                       &(SbxLogFields){ .reason = sbx_failure_name (SBX_FAILURE_KEY_MISSING), .more = more },
                       "%s", error->message);
      self->key_was_bad = TRUE;
      return FALSE;
    }
  self->key_was_bad = FALSE;
  *ret_key = sbx_secret_ref (key);
  return TRUE;
}

const SbxReflection *
sbx_endpoints_reflection (SbxEndpoints *self)
{
  guint64 generations = 0;

  /* Each is read again where its file has changed; one that became unreadable still counts as it was. */
  for (guint i = 0; i < self->targets->len; i++)
    {
      const SbxTarget *target = g_ptr_array_index (self->targets, i);

      if (target->credential == NULL)
        continue;
      (void) sbx_credential_get (target->credential, NULL);
      generations += sbx_credential_generation (target->credential);
    }
  if (self->reflection != NULL && generations == self->reflected)
    return self->reflection;

  g_clear_pointer (&self->reflection, sbx_reflection_free);
  self->reflection = sbx_reflection_new ();
  self->reflected = generations;
  for (guint i = 0; i < self->targets->len; i++)
    {
      const SbxTarget *target = g_ptr_array_index (self->targets, i);
      SbxSecret *now = target->credential != NULL ? sbx_credential_get (target->credential, NULL) : NULL;
      SbxSecret *before = target->credential != NULL ? sbx_credential_previous (target->credential) : NULL;

      if (now != NULL)
        sbx_reflection_add (self->reflection, now);
      if (before != NULL)
        sbx_reflection_add (self->reflection, before);
    }
  return self->reflection;
}

GPtrArray *
sbx_endpoints_paths (SbxEndpoints *self)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->targets->len; i++)
    {
      const SbxTarget *target = g_ptr_array_index (self->targets, i);

      if (target->endpoint->key_file[0] != '\0')
        g_ptr_array_add (paths, g_strdup (target->endpoint->key_file));
      if (target->endpoint->ca_file[0] != '\0')
        g_ptr_array_add (paths, g_strdup (target->endpoint->ca_file));
    }
  return paths;
}
