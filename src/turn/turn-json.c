/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-json.h"

#include <gio/gio.h>

#include "base/json-write.h"
#include "wire/bounds.h"

static void
write_name (GString *out, const char *name)
{
  if (out->str[out->len - 1] != '{')
    g_string_append_c (out, ',');
  sbx_json_write_text (out, name, -1);
  g_string_append_c (out, ':');
}

static void
write_text (GString *out, const char *name, const char *value)
{
  write_name (out, name);
  sbx_json_write_text (out, value, -1);
}

static void
write_spec (GString *out, const SbxToolSpec *spec)
{
  g_string_append_c (out, '{');
  write_text (out, "name", spec->name);
  write_text (out, "description", spec->description);
  write_name (out, "parameters");
  g_string_append (out, spec->parameters); /* compact JSON, checked when it was read */
  g_string_append_c (out, '}');
}

static void
write_tools (GString *out, GPtrArray *tools)
{
  gboolean first = TRUE;

  write_name (out, "tools");
  g_string_append_c (out, '[');
  for (guint i = 0; i < tools->len; i++)
    {
      const SbxTool *tool = tools->pdata[i];

      if (tool->kind != SBX_TOOL_KIND_TOOL)
        continue;
      if (!first)
        g_string_append_c (out, ',');
      write_spec (out, &tool->spec);
      first = FALSE;
    }
  g_string_append_c (out, ']');
}

static void
write_servers (GString *out, GPtrArray *servers)
{
  write_name (out, "mcp");
  g_string_append_c (out, '[');
  for (guint i = 0; i < servers->len; i++)
    {
      const SbxMcpServer *server = servers->pdata[i];

      g_string_append (out, i > 0 ? ",{" : "{");
      write_text (out, "server", server->name);
      write_name (out, "tools");
      g_string_append_c (out, '[');
      for (guint j = 0; j < server->tools->len; j++)
        {
          if (j > 0)
            g_string_append_c (out, ',');
          write_spec (out, server->tools->pdata[j]);
        }
      g_string_append (out, "]}");
    }
  g_string_append_c (out, ']');
}

static void
write_kept_members (GString *out, char **members)
{
  write_name (out, "keep");
  g_string_append_c (out, '[');
  for (guint i = 0; members[i] != NULL; i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      sbx_json_write_text (out, members[i], -1);
    }
  g_string_append_c (out, ']');
}

/* A history that grew too long is summarised: by the operator's tool for it, where there is one. */
static void
write_compaction (GString *out, GPtrArray *tools)
{
  const char *compactor = NULL;

  for (guint i = 0; i < tools->len; i++)
    if (((const SbxTool *) tools->pdata[i])->kind == SBX_TOOL_KIND_COMPACTOR)
      compactor = ((const SbxTool *) tools->pdata[i])->spec.name;
  write_name (out, "compaction");
  g_string_append_c (out, '{');
  if (compactor != NULL)
    write_text (out, "compactor", compactor);
  else
    g_string_append (out, "\"compactor\":null");
  g_string_append_c (out, '}');
}

GBytes *
sbx_turn_json_write (const SbxSettings *settings, const SbxTurnWords *words, GError **error)
{
  const SbxConfig *config = settings->config;
  GString *out = g_string_new ("{");

  write_text (out, "text", words->text);
  write_name (out, "speaker");
  g_string_append_c (out, '{');
  write_text (out, "id", words->speaker_id);
  write_text (out, "name", words->speaker_name);
  g_string_append_c (out, '}');
  write_text (out, "model", config->model_name);
  write_text (out, "prompt", config->prompt);
  write_text (out, "timeZone", config->time_zone);
  if (words->reset)
    {
      write_name (out, "reset");
      g_string_append (out, "true");
    }
  write_tools (out, settings->tools);
  write_servers (out, settings->servers);
  /* A broken store of an earlier turn is set aside instead of failing every later one. */
  write_name (out, "repair");
  g_string_append (out, "true");
  write_name (out, "calls");
  g_string_append_printf (out, "%" G_GUINT64_FORMAT, config->calls);
  write_name (out, "remaining_ms");
  g_string_append_printf (out, "%u", words->left_msec);
  if (config->compaction)
    write_compaction (out, settings->tools);
  if (config->kept_members != NULL && config->kept_members[0] != NULL)
    write_kept_members (out, config->kept_members);
  g_string_append (out, "}\n");

  if (out->len > SBX_MAX_TURN_BYTES)
    {
      g_set_error (
        error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
        "The turn takes %zu bytes as JSON, and a worker takes %u: shorten the message, or the tools' "
        "descriptions",
        out->len, SBX_MAX_TURN_BYTES);
      g_string_free (out, TRUE);
      return NULL;
    }
  return g_string_free_to_bytes (out);
}
