/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/json-file.h"

#include "base/json-member.h"
#include "base/json-tree.h"
#include "config/span.h"
#include "wire/bounds.h"
#include "wire/model-request.h"
#include "wire/schema-refs.h"

#define NEAR_ENOUGH 3u

JsonNode *
sbx_json_file_parse (const SbxConfigFile *file, GError **error)
{
  g_autoptr (GError) json_error = NULL;
  g_autoptr (JsonNode) node =
    sbx_json_read (file->content, file->n_bytes, SBX_MAX_CONFIG_FILE_BYTES, &json_error);

  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE, "%s must hold one JSON object%s%s",
                   file->path, json_error != NULL ? ": " : "", json_error != NULL ? json_error->message : "");
      return NULL;
    }
  return g_steal_pointer (&node);
}

gboolean
sbx_json_file_refuse (const char *path, const char *member, const char *right, GError **error)
{
  g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE, "%s: \"%s\" must be %s", path, member, right);
  return FALSE;
}

gboolean
sbx_json_file_text (const char *path, JsonObject *object, const char *name, gboolean required,
                    char **ret_text, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  const char *text = sbx_json_node_text (node);

  if (node == NULL && !required)
    return TRUE;
  if (text == NULL)
    return sbx_json_file_refuse (path, name, node == NULL ? "there, a text" : "a text", error);
  g_free (*ret_text);
  *ret_text = g_strdup (text);
  return TRUE;
}

gboolean
sbx_json_file_boolean (const char *path, JsonObject *object, const char *name, gboolean *ret_value,
                       GError **error)
{
  JsonNode *node = json_object_get_member (object, name);

  return node == NULL || sbx_json_node_boolean (node, ret_value)
         || sbx_json_file_refuse (path, name, "true or false", error);
}

gboolean
sbx_json_file_number (const char *path, JsonObject *object, const char *name, guint minimum, guint maximum,
                      guint *ret_number, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  g_autofree char *right = NULL;
  gint64 number = 0;

  if (node == NULL)
    return TRUE;
  if (!sbx_json_node_integer (node, &number) || number < minimum || number > maximum)
    {
      right = g_strdup_printf ("a whole number from %u to %u", minimum, maximum);
      return sbx_json_file_refuse (path, name, right, error);
    }
  *ret_number = (guint) number;
  return TRUE;
}

void
sbx_tool_spec_clear (SbxToolSpec *spec)
{
  g_free (spec->name);
  g_free (spec->description);
  g_free (spec->parameters);
  g_free (spec->remote_name);
}

/* A schema stands deepest in the turn: the turn, its list of servers, the server, its list of tools, the
 * tool. What would be refused there (json-gate.h) is refused here. */
static gboolean
fits_in_turn (const char *parameters)
{
  g_autofree char *nested = g_strconcat ("[[[[[", parameters, "]]]]]", NULL);
  gsize n_bytes = strlen (nested);
  g_autoptr (JsonNode) node = sbx_json_read (nested, n_bytes, n_bytes, NULL);

  return node != NULL;
}

gboolean
sbx_json_file_spec (const char *path, JsonObject *object, SbxToolSpec *spec, GError **error)
{
  JsonNode *parameters = json_object_get_member (object, "parameters");
  g_autoptr (GString) text = g_string_new (NULL);

  if (!sbx_json_file_text (path, object, "name", TRUE, &spec->name, error)
      || !sbx_json_file_text (path, object, "description", TRUE, &spec->description, error))
    return FALSE;
  if (!sbx_name_is_valid (spec->name, SBX_MAX_NAME_BYTES))
    return sbx_json_file_refuse (path, "name",
                                 "a small letter, then at most 47 small letters, digits or \"_\"", error);
  if (parameters == NULL || !JSON_NODE_HOLDS_OBJECT (parameters))
    return sbx_json_file_refuse (path, "parameters", "a JSON schema, as an object", error);
  if (!sbx_schema_is_local (parameters))
    return sbx_json_file_refuse (
      path, "parameters", "a local schema: $schema, $id and every $ref, where there, must begin with \"#\"",
      error);
  sbx_json_write_node (text, parameters);
  spec->parameters = g_strdup (text->str);
  if (!fits_in_turn (spec->parameters))
    return sbx_json_file_refuse (path, "parameters", "a JSON schema nested at most 27 deep", error);
  return TRUE;
}

void
sbx_json_file_warn (const char *path, JsonObject *object, const char *const *known, GPtrArray *warnings)
{
  g_autoptr (GList) members = json_object_get_members (object);

  for (GList *m = members; m != NULL && warnings != NULL; m = m->next)
    {
      const char *nearest = NULL;
      guint best = NEAR_ENOUGH + 1;

      if (g_strv_contains (known, m->data))
        continue;
      for (gsize i = 0; known[i] != NULL; i++)
        {
          guint distance = sbx_edit_distance (known[i], m->data);

          if (distance < best)
            {
              best = distance;
              nearest = known[i];
            }
        }
      g_ptr_array_add (warnings,
                       g_strdup_printf ("%s: \"%s\" is not known%s%s%s", path, (const char *) m->data,
                                        nearest != NULL ? "; did you mean \"" : " and is ignored",
                                        nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : ""));
    }
}
