/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/turn-calls.h"

#include <stdio.h>

#include "base/log.h"
#include "egress/answer.h"
#include "egress/call.h"
#include "egress/mcp.h"
#include "egress/request.h"
#include "wire/mcp-request.h"

struct _SbxTurnCalls {
  SbxUpstream *upstream;
  SbxEndpoints *endpoints;
  SbxEndpoints *current; /* NULL, or what a reload has brought since */
  SbxGrant *grant;
  gint64 end_usec;
  guint end; /* source id */
  guint32 budget_left;
  /* the call in flight */
  gboolean busy;
  guint32 id;
  SbxTarget *target;
  SbxCall *model_call;
  SbxMcpCall *mcp_call;
  SbxTurnAnswer answer;
  gpointer user_data;
};

static void
stop_call (SbxTurnCalls *self)
{
  g_clear_pointer (&self->model_call, sbx_call_cancel);
  g_clear_pointer (&self->mcp_call, sbx_mcp_call_cancel);
  self->busy = FALSE;
}

static void
answer_failure (SbxTurnCalls *self, guint32 id, SbxFailure failure)
{
  SbxGrantAnswer answer = { .failure = failure };

  self->answer (id, &answer, self->user_data);
}

static gboolean
on_end (gpointer user_data)
{
  SbxTurnCalls *self = user_data;
  gboolean busy = self->busy;

  self->end = 0;
  stop_call (self);
  if (busy)
    answer_failure (self, self->id, SBX_FAILURE_DEADLINE);
  return G_SOURCE_REMOVE;
}

SbxTurnCalls *
sbx_turn_calls_new (SbxUpstream *upstream, SbxEndpoints *endpoints, SbxGrant *grant, SbxTurnAnswer answer,
                    gpointer user_data)
{
  SbxTurnCalls *self = g_new0 (SbxTurnCalls, 1);

  self->upstream = upstream;
  self->endpoints = sbx_endpoints_ref (endpoints);
  self->grant = grant;
  self->end_usec = g_get_monotonic_time () + (gint64) grant->deadline_msec * 1000;
  self->end = g_timeout_add (grant->deadline_msec, on_end, self);
  self->budget_left = grant->call_budget;
  self->answer = answer;
  self->user_data = user_data;
  return self;
}

void
sbx_turn_calls_free (SbxTurnCalls *self)
{
  if (self == NULL)
    return;
  stop_call (self);
  if (self->end != 0)
    (void) g_source_remove (self->end);
  sbx_endpoints_unref (self->endpoints);
  sbx_endpoints_unref (self->current);
  sbx_grant_free (self->grant);
  g_free (self);
}

const SbxGrant *
sbx_turn_calls_grant (const SbxTurnCalls *self)
{
  return self->grant;
}

void
sbx_turn_calls_set_current (SbxTurnCalls *self, SbxEndpoints *current)
{
  sbx_endpoints_unref (self->current);
  self->current = sbx_endpoints_ref (current);
}

static guint
left_msec (const SbxTurnCalls *self)
{
  return (guint) MAX ((self->end_usec - g_get_monotonic_time ()) / 1000, 0);
}

gboolean
sbx_turn_calls_charge (SbxTurnCalls *self)
{
  if (self->budget_left == 0 || left_msec (self) == 0)
    return FALSE;
  self->budget_left--;
  return TRUE;
}

/* --- what came back --- */

static void
log_failure (SbxTurnCalls *self, const SbxUpstreamResult *result, SbxFailure failure)
{
  char status[16];
  const char *const more[] = {
    "SANDBOX_ENDPOINT", self->target->name, "SANDBOX_STATUS", status, "SANDBOX_DETAIL", result->detail, NULL
  };
  const SbxLogFields fields = { .turn = self->grant->turn,
                                .channel = self->grant->channel,
                                .reason = sbx_failure_name (failure),
                                .more = more };

  (void) snprintf (status, sizeof status, "%u", result->status);
  if (failure == SBX_FAILURE_KEY_REFLECTED)
    sbx_log_event (SBX_LOG_ID_KEY_REFLECTED, LOG_WARNING, &fields,
                   "An answer of the endpoint %s held a live key and was kept back", self->target->name);
  else if (failure == SBX_FAILURE_ADDRESS_REFUSED)
    sbx_log_event (
      SBX_LOG_ID_UPSTREAM_FAILED, LOG_WARNING, &fields,
      "The name of the endpoint %s leads to a private, loopback or link-local address. If that is meant, "
      "as for a model server on the same machine, set AllowPrivate=yes (allow_private in mcp.d) for it, or "
      "write the address itself into its URL",
      self->target->name);
  else
    sbx_log_event (SBX_LOG_ID_UPSTREAM_FAILED, LOG_WARNING, &fields,
                   "The endpoint %s failed a call: %s (%s, status %s)", self->target->name,
                   sbx_failure_name (failure), result->detail, status);
}

/* Past a reload, the keys of both configurations are live. */
static SbxFailure
read_answer (SbxTurnCalls *self, const SbxUpstreamResult *result, SbxAnswer *answer)
{
  SbxFailure failure =
    sbx_answer_read (result->body, result->body_bytes, sbx_endpoints_reflection (self->endpoints), answer);
  gsize n_bytes = 0;
  const char *json;

  if (failure != SBX_FAILURE_NONE || self->current == NULL)
    return failure;
  json = g_bytes_get_data (answer->json, &n_bytes);
  if (!sbx_reflection_finds_in_text (sbx_endpoints_reflection (self->current), json, n_bytes))
    return SBX_FAILURE_NONE;
  g_clear_pointer (&answer->json, g_bytes_unref);
  return SBX_FAILURE_KEY_REFLECTED;
}

static void
on_call_done (const SbxUpstreamResult *result, guint retry_after_sec, gpointer user_data)
{
  SbxTurnCalls *self = user_data;
  SbxAnswer read = { 0 };
  SbxFailure failure = result->failure;
  g_auto (SbxGrantAnswer) answer = { 0 };

  self->model_call = NULL;
  self->mcp_call = NULL;
  self->busy = FALSE;
  if (failure == SBX_FAILURE_NONE)
    failure = read_answer (self, result, &read);
  /* The turn's own end comes before the call's. */
  if (failure == SBX_FAILURE_MODEL_TIMEOUT && left_msec (self) == 0)
    failure = SBX_FAILURE_DEADLINE;
  if (failure != SBX_FAILURE_NONE)
    log_failure (self, result, failure);
  answer.failure = failure;
  answer.upstream_status = (guint16) MIN (result->status, G_MAXUINT16);
  answer.retry_after_sec = failure == SBX_FAILURE_RATE_LIMITED ? retry_after_sec : 0;
  answer.prompt_tokens = read.prompt_tokens;
  answer.completion_tokens = read.completion_tokens;
  answer.json = read.json;
  self->answer (self->id, &answer, self->user_data);
}

/* --- calls --- */

/* Whether a call may start now: charged and answered where not. */
static gboolean
begin (SbxTurnCalls *self, guint32 id)
{
  if (left_msec (self) == 0)
    {
      answer_failure (self, id, SBX_FAILURE_DEADLINE);
      return FALSE;
    }
  if (!sbx_turn_calls_charge (self))
    {
      answer_failure (self, id, SBX_FAILURE_BUDGET_SPENT);
      return FALSE;
    }
  return TRUE;
}

gboolean
sbx_turn_calls_model (SbxTurnCalls *self, guint32 id, GBytes *messages, GBytes *tools)
{
  g_autoptr (GBytes) body = NULL;
  g_autoptr (SbxSecret) key = NULL;
  SbxCallRequest request = { .may_repeat = TRUE };

  if (self->busy)
    return FALSE;
  if (!begin (self, id))
    return TRUE;
  self->target = sbx_endpoints_model (self->endpoints);
  body = sbx_request_build (sbx_endpoints_config (self->endpoints), messages, tools);
  if (body == NULL)
    {
      answer_failure (self, id, SBX_FAILURE_RULES);
      return TRUE;
    }
  if (!sbx_target_take_key (self->target, &key))
    {
      answer_failure (self, id, SBX_FAILURE_KEY_MISSING);
      return TRUE;
    }
  request.request.endpoint = self->target->endpoint;
  request.request.body = body;
  request.request.key = key;
  request.request.accept = "application/json";
  request.request.timeout_msec = MIN (left_msec (self), SBX_UPSTREAM_MAX_MSEC);
  self->busy = TRUE;
  self->id = id;
  self->model_call = sbx_call_start (self->upstream, &request, on_call_done, self);
  return TRUE;
}

static gboolean
server_is_granted (const SbxTurnCalls *self, const char *server)
{
  return g_strv_contains ((const char *const *) self->grant->servers, server);
}

gboolean
sbx_turn_calls_mcp (SbxTurnCalls *self, guint32 id, const char *server, const char *tool, GBytes *arguments)
{
  g_autoptr (GBytes) checked = NULL;
  g_autoptr (SbxSecret) key = NULL;
  const char *const declared[] = { tool, NULL };
  const SbxToolSpec *spec;
  SbxTarget *target;

  if (self->busy)
    return FALSE;
  if (!begin (self, id))
    return TRUE;
  target = server_is_granted (self, server) ? sbx_endpoints_server (self->endpoints, server) : NULL;
  spec = target != NULL ? sbx_mcp_server_tool (target->server, tool) : NULL;
  if (spec == NULL
      || sbx_mcp_request_read_parts (tool, arguments, declared, &checked) != SBX_MCP_REQUEST_FINE)
    {
      answer_failure (self, id, SBX_FAILURE_RULES);
      return TRUE;
    }
  if (!sbx_target_take_key (target, &key))
    {
      answer_failure (self, id, SBX_FAILURE_KEY_MISSING);
      return TRUE;
    }
  self->target = target;
  self->busy = TRUE;
  self->id = id;
  self->mcp_call = sbx_mcp_call_start (self->upstream, target, key,
                                       spec->remote_name != NULL ? spec->remote_name : spec->name, checked,
                                       MIN (left_msec (self), SBX_UPSTREAM_MAX_MSEC), on_call_done, self);
  return TRUE;
}

void
sbx_turn_calls_cancel (SbxTurnCalls *self, guint32 id)
{
  if (!self->busy || self->id != id)
    return;
  stop_call (self);
  answer_failure (self, id, SBX_FAILURE_CANCELLED);
}
