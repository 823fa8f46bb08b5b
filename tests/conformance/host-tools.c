/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "conformance/host-tools.h"

#include <gio/gunixsocketaddress.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "base/json-tree.h"
#include "turn/tool-call.h"

#define MAX_INPUT_BYTES (512u * 1024u)
#define HUGE_BYTES      (1024u * 1024u + 16u)
#define SLOW_USEC       (2 * G_USEC_PER_SEC)
#define MAX_THREADS     8

const char *const host_tools_names[] = { "clock", "echo", "slow", "huge", "fail", NULL };

typedef struct {
  char *name;
  char *fail_text;
} Tool;

/* {"input","channel","speaker"} out of sandboxd's line and the guest's input. */
static void
append_echo (GString *out, const char *line, const char *input)
{
  g_autoptr (JsonNode) head = sbx_json_read (line, strlen (line), MAX_INPUT_BYTES, NULL);
  JsonObject *identity = head != NULL && JSON_NODE_HOLDS_OBJECT (head) ? json_node_get_object (head) : NULL;

  if (identity == NULL)
    return;
  g_string_append_printf (out, "{\"input\":%s,\"channel\":", input);
  sbx_json_write_node (out, json_object_get_member (identity, "channel"));
  g_string_append (out, ",\"speaker\":");
  sbx_json_write_node (out, json_object_get_member (identity, "speaker"));
  g_string_append_c (out, '}');
}

static GString *
answer (const Tool *tool, const char *line, const char *input)
{
  GString *out = g_string_new (NULL);

  if (g_str_equal (tool->name, "clock"))
    g_string_append (out, "2026-01-02T03:04:05Z");
  else if (g_str_equal (tool->name, "echo"))
    append_echo (out, line, input);
  else if (g_str_equal (tool->name, "slow"))
    {
      g_usleep (SLOW_USEC);
      g_string_append (out, "slow");
    }
  else if (g_str_equal (tool->name, "huge"))
    {
      g_string_set_size (out, HUGE_BYTES);
      memset (out->str, 'x', HUGE_BYTES);
    }
  else
    g_string_append (out, tool->fail_text);
  return out;
}

static gboolean
on_tool_called (GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
                gpointer user_data)
{
  GInputStream *stream = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  g_autofree char *data = g_malloc0 (MAX_INPUT_BYTES + 1);
  g_autoptr (GString) out = NULL;
  char *input;
  gsize n_bytes = 0;

  if (!g_input_stream_read_all (stream, data, MAX_INPUT_BYTES, &n_bytes, NULL, NULL))
    return TRUE;
  input = strchr (data, '\n');
  if (input == NULL)
    return TRUE;
  *input++ = '\0';
  out = answer (user_data, data, input);
  (void) g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), out->str,
                                    out->len, NULL, NULL, NULL);
  return TRUE;
}

GPtrArray *
host_tools_serve (const char *directory, const char *fail_text)
{
  GPtrArray *targets = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_tool_target_unref);

  for (const char *const *name = host_tools_names; *name != NULL; name++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%s.sock", directory, *name);
      g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
      GSocketService *service = g_threaded_socket_service_new (MAX_THREADS);
      Tool *tool = g_new0 (Tool, 1);
      g_autoptr (GError) error = NULL;

      tool->name = g_strdup (*name);
      tool->fail_text = g_strdup (fail_text);
      if (!g_socket_listener_add_address (G_SOCKET_LISTENER (service), address, G_SOCKET_TYPE_STREAM,
                                          G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, &error))
        g_error ("%s: %s", path, error->message);
      /* Both live as long as the process. */
      g_signal_connect (service, "run", G_CALLBACK (on_tool_called), tool);
      g_ptr_array_add (targets, sbx_tool_target_new_socket (*name, path));
    }
  return targets;
}
