/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/policy.h"

#include <string.h>

#include "base/names.h"

#define TOOLS_PREFIX "/tools/"
#define MCP_PREFIX   "/mcp/"

struct _SbxPolicy {
  char **tools;
  GPtrArray *servers; /* of Server */
};

typedef struct {
  char *name;
  char **tools;
} Server;

static const char *const permitted_fields[] = {
  "host", "content-type", "content-length", "accept", "accept-encoding", "authorization", "user-agent",
};

static void
server_free (gpointer data)
{
  Server *self = data;

  g_free (self->name);
  g_strfreev (self->tools);
  g_free (self);
}

SbxPolicy *
sbx_policy_new (const SbxControlConfig *config)
{
  SbxPolicy *self = g_new0 (SbxPolicy, 1);

  self->tools = g_strdupv (config->tools);
  self->servers = g_ptr_array_new_with_free_func (server_free);
  for (guint i = 0; i < config->servers->len; i++)
    {
      const SbxControlServer *from = g_ptr_array_index (config->servers, i);
      Server *server = g_new0 (Server, 1);

      server->name = g_strdup (from->name);
      server->tools = g_strdupv (from->tools);
      g_ptr_array_add (self->servers, server);
    }
  return self;
}

void
sbx_policy_free (SbxPolicy *self)
{
  if (self == NULL)
    return;
  g_strfreev (self->tools);
  g_ptr_array_unref (self->servers);
  g_free (self);
}

static gboolean
is_permitted (SbxHttpText name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (permitted_fields); i++)
    if (sbx_http_text_is_caseless (name, permitted_fields[i]))
      return TRUE;
  return FALSE;
}

/* Absent is fine; present is this value and no other. */
static gboolean
is_absent_or (const SbxHttpHead *head, const char *name, const char *wanted)
{
  const SbxHttpField *field = sbx_http_head_field (head, name);

  return field == NULL || sbx_http_text_is (field->value, wanted);
}

/* What follows prefix in text. FALSE where text does not begin so. */
static gboolean
after_prefix (SbxHttpText text, const char *prefix, SbxHttpText *ret_rest)
{
  gsize n_bytes = strlen (prefix);

  if (text.n_bytes < n_bytes || memcmp (text.data, prefix, n_bytes) != 0)
    return FALSE;
  *ret_rest = (SbxHttpText){ text.data + n_bytes, text.n_bytes - n_bytes };
  return TRUE;
}

static gboolean
find_target (const SbxPolicy *self, SbxHttpText path, SbxPolicyTarget *ret_target)
{
  SbxHttpText name;

  if (sbx_http_text_is (path, "/model"))
    {
      *ret_target = (SbxPolicyTarget){ .route = SBX_ROUTE_MODEL, .name = "" };
      return TRUE;
    }
  if (after_prefix (path, TOOLS_PREFIX, &name))
    for (char **tool = self->tools; *tool != NULL; tool++)
      if (sbx_http_text_is (name, *tool))
        {
          *ret_target = (SbxPolicyTarget){ .route = SBX_ROUTE_TOOL, .name = *tool };
          return TRUE;
        }
  if (after_prefix (path, MCP_PREFIX, &name))
    for (guint i = 0; i < self->servers->len; i++)
      {
        const Server *server = g_ptr_array_index (self->servers, i);

        if (sbx_http_text_is (name, server->name))
          {
            *ret_target = (SbxPolicyTarget){ .route = SBX_ROUTE_MCP,
                                             .name = server->name,
                                             .tools = (const char *const *) server->tools };
            return TRUE;
          }
      }
  return FALSE;
}

guint
sbx_policy_check_head (const SbxPolicy *self, const SbxHttpHead *head, SbxPolicyTarget *ret_target)
{
  SbxHttpText path = head->target;

  if (!sbx_http_text_is (head->method, "POST") || memchr (path.data, '?', path.n_bytes) != NULL
      || memchr (path.data, '#', path.n_bytes) != NULL)
    return 404;
  for (guint i = 0; i < head->n_fields; i++)
    if (!is_permitted (head->fields[i].name))
      return 403;
  if (head->field_repeated)
    return 400;
  if (!is_absent_or (head, "authorization", "Bearer " SBX_DUMMY_KEY)
      || !is_absent_or (head, "host", "broker"))
    return 403;
  return find_target (self, path, ret_target) ? 0 : 404;
}

guint
sbx_policy_check_turn (gboolean turn_runs, gboolean call_in_flight, guint32 calls_left)
{
  if (!turn_runs)
    return 410;
  return call_in_flight || calls_left == 0 ? 429 : 0;
}
