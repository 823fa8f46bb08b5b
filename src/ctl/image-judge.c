/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/image-judge.h"

#include <gio/gio.h>
#include <glib-unix.h>
#include <gio/gunixsocketaddress.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "base/json-write.h"
#include "broker/http-head.h"
#include "broker/http-reply.h"
#include "broker/policy.h"
#include "broker/routes.h"
#include "wire/bounds.h"

#define MAX_REQUEST_BYTES (SBX_HTTP_MAX_HEAD_BYTES + SBX_MAX_BODY_BYTES + 1)

typedef struct {
  SbxJudge *judge;
  GSocketConnection *connection;
  GByteArray *data;
  gsize place;
  gsize n_head; /* 0 until the head is whole */
  SbxHttpHead head;
  GBytes *reply;
  guint8 piece[16384];
} Peer;

struct _SbxJudge {
  GSocketService *service;
  GCancellable *cancellable;
  SbxPolicy *policy;
  guint n_open;
  guint n_connections;
  guint n_model_calls;
  gboolean model_fails;
  gboolean asked;
  char *fault;
};

static void
peer_free (Peer *self)
{
  self->judge->n_open--;
  g_object_unref (self->connection);
  g_byte_array_unref (self->data);
  g_clear_pointer (&self->reply, g_bytes_unref);
  g_free (self);
}

static void G_GNUC_PRINTF (2, 3) judge_fault (SbxJudge *self, const char *format, ...)
{
  va_list words;

  if (self->fault != NULL)
    return;
  va_start (words, format);
  self->fault = g_strdup_vprintf (format, words);
  va_end (words);
}

/* --- the script --- */

/* The name under which the tool is offered: the worker may put something before it. */
static const char *
find_offer (JsonObject *request)
{
  JsonArray *tools = sbx_json_member_list (request, "tools");

  for (guint i = 0; tools != NULL && i < json_array_get_length (tools); i++)
    {
      JsonObject *tool = sbx_json_node_object (json_array_get_element (tools, i));
      const char *name = sbx_json_member_text (sbx_json_member_object (tool, "function"), "name");

      if (name != NULL && g_str_has_suffix (name, SBX_JUDGE_TOOL))
        return name;
    }
  return NULL;
}

char *
sbx_judge_answer (const char *body, gsize n_bytes, gboolean *asked)
{
  g_autoptr (JsonNode) root = sbx_json_read (body, n_bytes, SBX_MAX_BODY_BYTES, NULL);
  const char *offer = find_offer (sbx_json_node_object (root));
  g_autoptr (GString) out =
    g_string_new ("{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");

  if (offer != NULL && !*asked)
    {
      *asked = TRUE;
      g_string_append (
        out, "null,\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":");
      sbx_json_write_text (out, offer, -1);
      g_string_append (out, ",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}");
    }
  else
    g_string_append (out, "\"" SBX_JUDGE_TEXT "\"},\"finish_reason\":\"stop\"}]}");
  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* --- one request --- */

static void
write_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Peer *self = user_data;

  (void) g_output_stream_write_all_finish (G_OUTPUT_STREAM (source), result, NULL, NULL);
  (void) g_io_stream_close (G_IO_STREAM (self->connection), NULL, NULL);
  peer_free (self);
}

static void
peer_reply (Peer *self, GBytes *reply)
{
  gsize n_bytes;
  gconstpointer data = g_bytes_get_data (reply, &n_bytes);

  self->reply = reply;
  g_output_stream_write_all_async (g_io_stream_get_output_stream (G_IO_STREAM (self->connection)), data,
                                   n_bytes, G_PRIORITY_DEFAULT, self->judge->cancellable, write_done, self);
}

static void
peer_refuse (Peer *self, guint status, const char *what)
{
  const SbxHttpHead *head = &self->head;
  int n_method = self->n_head > 0 ? (int) MIN (head->method.n_bytes, 16) : 0;
  int n_target = self->n_head > 0 ? (int) MIN (head->target.n_bytes, 80) : 0;

  judge_fault (self->judge, "the request \"%.*s %.*s\" gets status %u: %s", n_method,
               n_method > 0 ? head->method.data : "", n_target, n_target > 0 ? head->target.data : "", status,
               what);
  peer_reply (self, sbx_http_reply_refusal (status));
}

static const char *
why (guint status)
{
  switch (status)
    {
    case 404:
      return "only POST is taken, of the turn's own paths, without a query";
    case 403:
      return "a header is not on the list, or a value is another than the documented one";
    case 400:
      return "a header comes twice, or the body breaks a rule of its route (messages, tools, ids, names, "
             "schemas)";
    default:
      return "the body is not JSON, or too large";
    }
}

static void
peer_answer (Peer *self)
{
  SbxJudge *judge = self->judge;
  SbxPolicyTarget target;
  guint status = sbx_policy_check_head (judge->policy, &self->head, &target);
  g_autoptr (GBytes) body = g_bytes_new (self->data->data + self->n_head,
                                         MIN (self->data->len - self->n_head, self->head.content_length));
  g_autoptr (GByteArray) payload = NULL;
  g_autoptr (GBytes) json = NULL;
  SbxFrameType type;
  char *answer;

  if (status == 0 && judge->n_open > 1)
    {
      peer_refuse (self, 429, "one call at a time");
      return;
    }
  if (status == 0)
    status = sbx_routes_read_body (&target, NULL, body, &type, &payload);
  if (status != 0)
    {
      peer_refuse (self, status, why (status));
      return;
    }
  if (target.route == SBX_ROUTE_MODEL)
    judge->n_model_calls++;
  if (target.route == SBX_ROUTE_MODEL && judge->model_fails)
    {
      peer_reply (self, sbx_http_reply_refusal (502));
      return;
    }
  answer = target.route == SBX_ROUTE_MODEL
             ? sbx_judge_answer (g_bytes_get_data (body, NULL), g_bytes_get_size (body), &judge->asked)
             : g_strdup ("{\"text\":\"fine\"}");
  json = g_bytes_new_take (answer, strlen (answer));
  peer_reply (self, sbx_http_reply_json (json));
}

static void peer_read (Peer *self);

static void
read_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Peer *self = user_data;
  gssize n = g_input_stream_read_finish (G_INPUT_STREAM (source), result, NULL);
  SbxHttpVerdict verdict = SBX_HTTP_HEAD_WHOLE;

  if (n <= 0)
    {
      if (n == 0 && self->data->len > 0)
        judge_fault (self->judge, "a request was broken off in its middle");
      peer_free (self);
      return;
    }
  g_byte_array_append (self->data, self->piece, (guint) n);
  if (self->n_head == 0)
    verdict = sbx_http_head_find ((const char *) self->data->data, self->data->len, &self->place);
  if (self->n_head == 0 && verdict == SBX_HTTP_HEAD_WHOLE)
    self->n_head = self->place;
  /* Again after each read: the array may have moved. */
  if (self->n_head > 0)
    verdict = sbx_http_head_parse ((const char *) self->data->data, self->n_head, &self->head);
  if (verdict == SBX_HTTP_HEAD_BAD || verdict == SBX_HTTP_HEAD_TOO_LARGE)
    {
      self->n_head = 0;
      peer_refuse (self, verdict == SBX_HTTP_HEAD_BAD ? 400 : 431, "its head is not plain HTTP/1.1");
    }
  else if (self->n_head > 0 && self->head.content_length > SBX_MAX_BODY_BYTES)
    peer_refuse (self, 502, "its body is too large");
  else if (self->n_head > 0 && self->data->len >= self->n_head + self->head.content_length)
    peer_answer (self);
  else
    peer_read (self);
}

static void
peer_read (Peer *self)
{
  if (self->data->len > MAX_REQUEST_BYTES)
    {
      peer_free (self);
      return;
    }
  g_input_stream_read_async (g_io_stream_get_input_stream (G_IO_STREAM (self->connection)), self->piece,
                             sizeof self->piece, G_PRIORITY_DEFAULT, self->judge->cancellable, read_done,
                             self);
}

static gboolean
on_incoming (GSocketService *service, GSocketConnection *connection, GObject *source, gpointer user_data)
{
  SbxJudge *self = user_data;
  Peer *peer = g_new0 (Peer, 1);

  peer->judge = self;
  peer->connection = g_object_ref (connection);
  peer->data = g_byte_array_new ();
  self->n_open++;
  self->n_connections++;
  peer_read (peer);
  return TRUE;
}

/* --- */

SbxJudge *
sbx_judge_new (const char *socket_path, GError **error)
{
  g_autoptr (SbxJudge) self = g_new0 (SbxJudge, 1);
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (socket_path);
  g_autoptr (SbxControlConfig) config = sbx_control_config_new ();
  const char *const tools[] = { SBX_JUDGE_TOOL, NULL };

  g_strfreev (config->tools);
  config->tools = g_strdupv ((char **) tools);
  self->policy = sbx_policy_new (config);
  self->cancellable = g_cancellable_new ();
  self->service = g_socket_service_new ();
  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (self->service), address, G_SOCKET_TYPE_STREAM,
                                      G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, error))
    return NULL;
  g_signal_connect (self->service, "incoming", G_CALLBACK (on_incoming), self);
  return g_steal_pointer (&self);
}

void
sbx_judge_free (SbxJudge *self)
{
  if (self == NULL)
    return;
  g_cancellable_cancel (self->cancellable);
  g_socket_service_stop (self->service);
  g_socket_listener_close (G_SOCKET_LISTENER (self->service));
  while (self->n_open > 0)
    g_main_context_iteration (NULL, TRUE);
  g_signal_handlers_disconnect_by_data (self->service, self);
  g_object_unref (self->service);
  g_object_unref (self->cancellable);
  sbx_policy_free (self->policy);
  g_free (self->fault);
  g_free (self);
}

void
sbx_judge_begin (SbxJudge *self, gboolean model_fails)
{
  self->model_fails = model_fails;
  self->asked = FALSE;
  self->n_connections = 0;
  self->n_model_calls = 0;
  g_clear_pointer (&self->fault, g_free);
}

guint
sbx_judge_n_model_calls (const SbxJudge *self)
{
  return self->n_model_calls;
}

guint
sbx_judge_n_connections (const SbxJudge *self)
{
  return self->n_connections;
}

const char *
sbx_judge_fault (const SbxJudge *self)
{
  return self->fault;
}
