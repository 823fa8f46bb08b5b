/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* tools: what a guest's worker may call, as this host's files declare it. */
#include "ctl/ctl.h"

#include <errno.h>
#include <sys/stat.h>

#include "config/mcp-d.h"
#include "config/tools-d.h"

static const char *const headings[] = { "TOOL", "KIND", "BY", "DEADLINE", "CALLS", "STATE", NULL };

/* A tool's socket is not connected to: that would start the tool. */
static const char *
socket_state (const char *path)
{
  struct stat status;

  if (path == NULL)
    return "-";
  if (stat (path, &status) < 0)
    return errno == EACCES ? "?" : "no socket";
  return S_ISSOCK (status.st_mode) ? "ok" : "no socket";
}

static gboolean
add_tool (SbxTable *table, const SbxTool *tool)
{
  g_autofree char *deadline = g_strdup_printf ("%us", tool->deadline_sec);
  g_autofree char *calls = tool->max_calls > 0 ? g_strdup_printf ("%u", tool->max_calls) : g_strdup ("-");
  const char *state = socket_state (tool->socket);

  sbx_table_add (table, (const char *const[]){ tool->spec.name,
                                               tool->kind == SBX_TOOL_KIND_COMPACTOR ? "compactor" : "tool",
                                               tool->socket != NULL ? tool->socket : tool->bus_name, deadline,
                                               calls, state, NULL });
  return !g_str_equal (state, "no socket");
}

static void
add_server (SbxTable *table, guint number, const SbxMcpServer *server)
{
  g_autofree char *host = sbx_endpoint_host (server->endpoint->url);

  for (guint i = 0; i < server->tools->len; i++)
    {
      const SbxToolSpec *spec = g_ptr_array_index (server->tools, i);
      g_autofree char *name = g_strdup_printf ("mcp_%u_%s", number, spec->name);

      sbx_table_add (table, (const char *const[]){ name, "mcp", host, "-", "-", "-", NULL });
    }
}

SbxExit
sbx_verb_tools (SbxCtl *ctl, int n_words, char **words)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) tools = sbx_tools_load (NULL, warnings, &error);
  g_autoptr (GPtrArray) servers = tools != NULL ? sbx_mcp_servers_load (NULL, warnings, &error) : NULL;
  g_autoptr (SbxTable) table = sbx_table_new (headings);
  gboolean well = TRUE;

  if (ctl->host != NULL)
    {
      g_printerr ("The tools are files of the other host: ssh %s sandboxctl tools\n", ctl->host);
      return SBX_EXIT_USAGE;
    }
  if (servers == NULL)
    {
      g_printerr ("%s\n", error->message);
      return SBX_EXIT_FAILED;
    }
  for (guint i = 0; i < tools->len; i++)
    well = add_tool (table, g_ptr_array_index (tools, i)) && well;
  for (guint i = 0; i < servers->len; i++)
    add_server (table, i, g_ptr_array_index (servers, i));
  sbx_ctl_print_table (ctl, table);
  for (guint i = 0; i < warnings->len; i++)
    g_printerr ("%s\n", (const char *) g_ptr_array_index (warnings, i));
  return well ? SBX_EXIT_GOOD : SBX_EXIT_FAILED;
}
