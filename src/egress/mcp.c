/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/mcp.h"

#include <string.h>

#include "base/json-member.h"
#include "base/json-tree.h"
#include "egress/sse.h"
#include "sbx-config.h"
#include "wire/bounds.h"
#include "wire/mcp-request.h"

#define PROTOCOL_VERSION  "2025-03-26"
#define MAX_SESSION_BYTES 256u
#define GUEST_ID          1

typedef enum {
  STEP_INITIALIZE,
  STEP_INITIALIZED,
  STEP_CALL,
} Step;

struct _SbxMcpCall {
  SbxUpstream *upstream;
  SbxTarget *target;
  SbxSecret *key;
  char *tool;
  GBytes *arguments;
  gint64 end_usec;
  Step step;
  gboolean renewed;   /* the session was made for this very call: a second 404 is an answer */
  guint id;           /* of the request under way */
  SbxSse *sse;        /* of the try under way, where it answers with a stream */
  JsonNode *response; /* that the stream gave */
  SbxCall *call;
  SbxMcpDone done;
  gpointer user_data;
};

static void start_step (SbxMcpCall *self, Step step);

static void
call_free (SbxMcpCall *self)
{
  sbx_secret_unref (self->key);
  g_free (self->tool);
  g_bytes_unref (self->arguments);
  sbx_sse_free (self->sse);
  g_clear_pointer (&self->response, json_node_unref);
  g_free (self);
}

static void
finish (SbxMcpCall *self, const SbxUpstreamResult *result, guint retry_after_sec)
{
  self->done (result, retry_after_sec, self->user_data);
  call_free (self);
}

static void
finish_failed (SbxMcpCall *self, const SbxUpstreamResult *result, const char *detail)
{
  SbxUpstreamResult failed = { .failure = SBX_FAILURE_MODEL_ANSWER,
                               .detail = detail,
                               .status = result->status };

  finish (self, &failed, 0);
}

/* --- answers --- */

/* A response to the request under way, not a request or notification of the server's. */
static gboolean
is_own_response (const SbxMcpCall *self, JsonNode *node)
{
  JsonObject *object = sbx_json_node_object (node);
  gint64 id;

  return sbx_json_member_integer (object, "id", &id) && id == self->id
         && !json_object_has_member (object, "method")
         && (json_object_has_member (object, "result") || json_object_has_member (object, "error"));
}

static gboolean
on_sse_event (const char *data, gsize n_bytes, gpointer user_data)
{
  SbxMcpCall *self = user_data;
  g_autoptr (JsonNode) node = sbx_json_read_last_counts (data, n_bytes, SBX_MAX_ANSWER_BYTES, NULL);

  if (node == NULL || !is_own_response (self, node))
    return TRUE;
  g_clear_pointer (&self->response, json_node_unref);
  self->response = g_steal_pointer (&node);
  return FALSE;
}

static gboolean
on_piece (const char *content_type, const char *data, gsize n_bytes, gpointer user_data)
{
  SbxMcpCall *self = user_data;

  if (g_ascii_strncasecmp (content_type, "text/event-stream", strlen ("text/event-stream")) != 0)
    return TRUE;
  if (self->sse == NULL)
    self->sse = sbx_sse_new (on_sse_event, self);
  return sbx_sse_feed (self->sse, data, n_bytes);
}

static void
forget_stream (gpointer user_data)
{
  SbxMcpCall *self = user_data;

  g_clear_pointer (&self->sse, sbx_sse_free);
  g_clear_pointer (&self->response, json_node_unref);
}

/* The response of a session's request, from the stream or the body. NULL where there is none. */
static JsonNode *
take_response (SbxMcpCall *self, const SbxUpstreamResult *result)
{
  g_autoptr (JsonNode) node = g_steal_pointer (&self->response);

  if (node == NULL && self->sse == NULL)
    node = sbx_json_read_last_counts (result->body, result->body_bytes, SBX_MAX_ANSWER_BYTES, NULL);
  return node != NULL && is_own_response (self, node) ? g_steal_pointer (&node) : NULL;
}

/* --- the session --- */

static void
state_forget (SbxMcpState *state)
{
  state->initialized = FALSE;
  g_clear_pointer (&state->session, g_free);
  g_clear_pointer (&state->version, g_free);
}

/* What goes into a header must be visible ASCII. */
static gboolean
is_header_word (const char *text)
{
  gsize n = 0;

  for (; text[n] != '\0'; n++)
    if (text[n] <= ' ' || text[n] >= 0x7f)
      return FALSE;
  return n > 0 && n <= MAX_SESSION_BYTES;
}

static gboolean
take_session (SbxMcpCall *self, const SbxUpstreamResult *result)
{
  SbxMcpState *state = &self->target->state;
  g_autoptr (JsonNode) node = take_response (self, result);
  JsonObject *answer = sbx_json_member_object (sbx_json_node_object (node), "result");
  const char *version = sbx_json_member_text (answer, "protocolVersion");

  if (version == NULL || !is_header_word (version)
      || (result->session != NULL && !is_header_word (result->session)))
    return FALSE;
  state_forget (state);
  state->session = g_strdup (result->session);
  state->version = g_strdup (version);
  return TRUE;
}

/* --- steps --- */

static void
finish_call (SbxMcpCall *self, const SbxUpstreamResult *result)
{
  g_autoptr (JsonNode) node = take_response (self, result);
  g_autoptr (GString) text = g_string_new (NULL);
  SbxUpstreamResult own = *result;

  if (node == NULL)
    {
      finish_failed (self, result, "no-response");
      return;
    }
  json_object_set_int_member (json_node_get_object (node), "id", GUEST_ID);
  sbx_json_write_node (text, node);
  own.body = text->str;
  own.body_bytes = text->len;
  finish (self, &own, 0);
}

static void
on_step_done (const SbxUpstreamResult *result, guint retry_after_sec, gpointer user_data)
{
  SbxMcpCall *self = user_data;
  gboolean forgotten =
    self->step == STEP_CALL && self->target->server->session && !self->renewed
    && (result->status == 404 || (result->status == 400 && self->target->state.session != NULL));

  self->call = NULL;
  if (forgotten)
    {
      state_forget (&self->target->state);
      start_step (self, STEP_INITIALIZE);
      return;
    }
  if (result->failure != SBX_FAILURE_NONE)
    {
      finish (self, result, retry_after_sec);
      return;
    }
  switch (self->step)
    {
    case STEP_INITIALIZE:
      self->renewed = TRUE;
      if (take_session (self, result))
        start_step (self, STEP_INITIALIZED);
      else
        finish_failed (self, result, "initialize");
      return;
    case STEP_INITIALIZED:
      self->target->state.initialized = TRUE;
      start_step (self, STEP_CALL);
      return;
    case STEP_CALL:
    default:
      if (self->target->server->session)
        finish_call (self, result);
      else
        finish (self, result, 0);
      return;
    }
}

static GBytes *
step_body (SbxMcpCall *self, Step step)
{
  static const char initialized[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
  char *text;

  switch (step)
    {
    case STEP_INITIALIZE:
      text = g_strdup_printf ("{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"initialize\",\"params\":{"
                              "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{"
                              "\"name\":\"roundtable-sandbox\",\"version\":\"%s\"}}}",
                              self->id, PROTOCOL_VERSION, SBX_VERSION);
      return g_bytes_new_take (text, strlen (text));
    case STEP_INITIALIZED:
      return g_bytes_new_static (initialized, strlen (initialized));
    case STEP_CALL:
    default:
      return sbx_mcp_request_write (self->id, self->tool, self->arguments);
    }
}

static void
start_step (SbxMcpCall *self, Step step)
{
  SbxMcpState *state = &self->target->state;
  gboolean session = self->target->server->session;
  g_autoptr (GBytes) body = NULL;
  g_autoptr (GPtrArray) headers = g_ptr_array_new_with_free_func (g_free);
  SbxCallRequest request = { 0 };

  self->step = step;
  self->id = session && step != STEP_INITIALIZED ? ++state->last_id : GUEST_ID;
  forget_stream (self);
  body = step_body (self, step);
  if (session && step != STEP_INITIALIZE && state->session != NULL)
    g_ptr_array_add (headers, g_strdup_printf ("mcp-session-id: %s", state->session));
  if (session && step != STEP_INITIALIZE && state->version != NULL)
    g_ptr_array_add (headers, g_strdup_printf ("mcp-protocol-version: %s", state->version));
  g_ptr_array_add (headers, NULL);
  request.request.endpoint = self->target->endpoint;
  request.request.body = body;
  request.request.key = self->key;
  request.request.accept = session ? "application/json, text/event-stream" : "application/json";
  request.request.headers = (const char *const *) headers->pdata;
  request.request.timeout_msec = (guint) MAX ((self->end_usec - g_get_monotonic_time ()) / 1000, 1);
  request.request.piece = session ? on_piece : NULL;
  request.may_repeat = step != STEP_CALL; /* a tool may have done its work behind a 502 */
  request.again = forget_stream;
  self->call = sbx_call_start (self->upstream, &request, on_step_done, self);
}

SbxMcpCall *
sbx_mcp_call_start (SbxUpstream *upstream, SbxTarget *target, SbxSecret *key, const char *tool,
                    GBytes *arguments, guint timeout_msec, SbxMcpDone done, gpointer user_data)
{
  SbxMcpCall *self = g_new0 (SbxMcpCall, 1);

  self->upstream = upstream;
  self->target = target;
  self->key = key != NULL ? sbx_secret_ref (key) : NULL;
  self->tool = g_strdup (tool);
  self->arguments = g_bytes_ref (arguments);
  self->end_usec = g_get_monotonic_time () + (gint64) MIN (timeout_msec, SBX_UPSTREAM_MAX_MSEC) * 1000;
  self->done = done;
  self->user_data = user_data;
  start_step (self, target->server->session && !target->state.initialized ? STEP_INITIALIZE : STEP_CALL);
  return self;
}

void
sbx_mcp_call_cancel (SbxMcpCall *self)
{
  sbx_call_cancel (self->call);
  call_free (self);
}
