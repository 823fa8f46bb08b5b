/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "toolbox.h"

#include "base/json-variant.h"
#include "base/json-write.h"

typedef struct {
  SbxTool tool;
  char *json;
} Entry;

struct _SbxToolbox {
  GHashTable *entries; /* name to Entry */
  GPtrArray *names;    /* in the order of their first place; borrowed from entries */
  GString *json;
};

#define SCOPE "\"scope\":{\"type\":\"string\",\"enum\":[\"speaker\",\"channel\"]}"
#define KEY                                                                                                  \
  "\"key\":{\"type\":\"string\",\"description\":\"Short name of the entry, at most 128 characters\"}"

static const struct {
  const char *name;
  SbxToolKind kind;
  const char *description;
  const char *parameters;
} built_in[] = {
  { SBX_TOOL_PLACEHOLDER, SBX_TOOL_INVALID, "Stands for a call that was not valid. Calling it does nothing.",
    "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}" },
  { "memory_set", SBX_TOOL_MEMORY_SET,
    "Remember a text for later conversations, under a key: about the person who speaks now (scope speaker) "
    "or for "
    "the whole channel. An entry of the same scope and key is replaced.",
    "{\"type\":\"object\",\"properties\":{" SCOPE "," KEY
    ",\"text\":{\"type\":\"string\",\"description\":\"What to remember, at most 2,048 characters\"}},"
    "\"required\":[\"scope\",\"key\",\"text\"],\"additionalProperties\":false}" },
  { "memory_get", SBX_TOOL_MEMORY_GET,
    "Read what is remembered: all entries of a scope, the one of a key, or those that hold the words of a "
    "query.",
    "{\"type\":\"object\",\"properties\":{" SCOPE "," KEY
    ",\"query\":{\"type\":\"string\",\"description\":\"Words to look for in keys and texts\"}},"
    "\"required\":[\"scope\"],\"additionalProperties\":false}" },
  { "memory_remove", SBX_TOOL_MEMORY_REMOVE, "Forget the entry of a key.",
    "{\"type\":\"object\",\"properties\":{" SCOPE "," KEY "},"
    "\"required\":[\"scope\",\"key\"],\"additionalProperties\":false}" },
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->json);
  g_free (entry);
}

/* Takes name. A name that is there already keeps its place. */
static void
offer (SbxToolbox *self, char *name, SbxTool tool, const char *description, const char *parameters)
{
  g_autoptr (GString) json = g_string_new ("{\"type\":\"function\",\"function\":{\"name\":");
  Entry *entry = g_new0 (Entry, 1);

  sbx_json_write_text (json, name, -1);
  g_string_append (json, ",\"description\":");
  sbx_json_write_text (json, description, -1);
  g_string_append_printf (json, ",\"parameters\":%s}}", parameters);
  entry->tool = tool;
  entry->json = g_string_free (g_steal_pointer (&json), FALSE);
  if (!g_hash_table_contains (self->entries, name))
    g_ptr_array_add (self->names, name);
  g_hash_table_insert (self->entries, name, entry);
}

static void
offer_spec (SbxToolbox *self, char *name, SbxTool tool, const SbxToolSpec *spec)
{
  g_autoptr (GString) parameters = g_string_new (NULL);

  sbx_json_variant_write (parameters, spec->parameters);
  offer (self, name, tool, spec->description, parameters->str);
}

static void
write_list (SbxToolbox *self)
{
  for (guint i = 0; i < self->names->len; i++)
    {
      const Entry *entry = g_hash_table_lookup (self->entries, self->names->pdata[i]);

      g_string_append_c (self->json, i == 0 ? '[' : ',');
      g_string_append (self->json, entry->json);
    }
  g_string_append_c (self->json, ']');
}

SbxToolbox *
sbx_toolbox_new (const SbxTurnInput *input)
{
  g_autoptr (SbxToolbox) self = g_new0 (SbxToolbox, 1);

  g_return_val_if_fail (input != NULL, NULL);

  self->entries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, entry_free);
  self->names = g_ptr_array_new ();
  self->json = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (built_in); i++)
    offer (self, g_strdup (built_in[i].name), (SbxTool){ .kind = built_in[i].kind }, built_in[i].description,
           built_in[i].parameters);
  for (guint i = 0; i < input->tools->len; i++)
    {
      const SbxToolSpec *spec = &g_array_index (input->tools, SbxToolSpec, i);

      offer_spec (self, g_strconcat ("host_", spec->name, NULL),
                  (SbxTool){ .kind = SBX_TOOL_HOST, .tool = spec->name }, spec);
    }
  for (guint i = 0; i < input->servers->len; i++)
    {
      const SbxServerSpec *server = input->servers->pdata[i];

      for (guint k = 0; k < server->tools->len; k++)
        {
          const SbxToolSpec *spec = &g_array_index (server->tools, SbxToolSpec, k);

          offer_spec (self, g_strdup_printf ("mcp_%u_%s", i, spec->name),
                      (SbxTool){ .kind = SBX_TOOL_MCP, .server = server->name, .tool = spec->name }, spec);
        }
    }
  write_list (self);
  return self->json->len <= SBX_TOOLBOX_MAX_BYTES ? g_steal_pointer (&self) : NULL;
}

void
sbx_toolbox_free (SbxToolbox *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->names);
  g_hash_table_unref (self->entries);
  g_string_free (self->json, TRUE);
  g_free (self);
}

const char *
sbx_toolbox_json (SbxToolbox *self, gsize *ret_n_bytes)
{
  g_return_val_if_fail (self != NULL && ret_n_bytes != NULL, NULL);

  *ret_n_bytes = self->json->len;
  return self->json->str;
}

const SbxTool *
sbx_toolbox_find (SbxToolbox *self, const char *name)
{
  const Entry *entry;

  g_return_val_if_fail (self != NULL && name != NULL, NULL);

  entry = g_hash_table_lookup (self->entries, name);
  return entry != NULL ? &entry->tool : NULL;
}
