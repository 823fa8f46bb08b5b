/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/calls.h"

#include "broker/routes.h"
#include "broker/source.h"
#include "wire/grant.h"

struct _SbxCall {
  SbxCalls *calls;
  SbxPolicyTarget target;
  guint32 id;
  gboolean sent;    /* the egress or sandboxd has been asked */
  gboolean dropped; /* the caller went away; only a host tool's call stays then */
  gint64 begun_usec;
  GSource *deadline;
  SbxCallDone done;
  gpointer user_data;
  SbxControlAudit entry;
};

struct _SbxCalls {
  SbxFrameLink *control;
  SbxFrameLink *grant; /* NULL before the turn and once the egress is gone */
  SbxAudit *audit;
  char **kept_members;
  gboolean started;
  gboolean ended;
  guint32 calls_left;
  guint32 last_id;
  SbxCall *call; /* in flight */
};

/* --- one call --- */

/* Gives the slot back and tells the caller and the audit, in this order: the worker waits for its answer, and
 * nothing that comes of it can overtake the entry. */
static void
call_finish (SbxCall *self, guint status, SbxFailure failure, GBytes *json)
{
  SbxCalls *calls = self->calls;
  SbxCallDone done = self->dropped ? NULL : self->done;
  gpointer user_data = self->user_data;
  gint64 spent_usec = g_get_monotonic_time () - self->begun_usec;

  self->entry.status = (guint16) status;
  self->entry.failure = failure;
  self->entry.answer_bytes = json != NULL ? (guint32) g_bytes_get_size (json) : 0;
  self->entry.duration_msec = (guint32) CLAMP (spent_usec / 1000, 0, (gint64) G_MAXUINT32);
  calls->call = NULL;
  sbx_source_clear (&self->deadline);
  if (done != NULL)
    done (status, json, user_data);
  sbx_audit_add_call (calls->audit, &self->entry);
  g_free (self);
}

/* Tells the other side that nobody wants the answer any more. A late one is known by its id. */
static void
call_cancel (SbxCall *self)
{
  SbxCalls *calls = self->calls;

  if (!self->sent)
    return;
  if (self->target.route == SBX_ROUTE_TOOL)
    (void) sbx_frame_link_send (calls->control, SBX_FRAME_TOOL_CANCEL, self->id, NULL, NULL, 0, NULL);
  else if (calls->grant != NULL)
    (void) sbx_frame_link_send (calls->grant, SBX_FRAME_CALL_CANCEL, self->id, NULL, NULL, 0, NULL);
}

static gboolean
on_call_deadline (gpointer user_data)
{
  SbxCall *self = user_data;

  call_cancel (self);
  call_finish (self, self->dropped ? 0 : 502, SBX_FAILURE_DEADLINE, NULL);
  return G_SOURCE_REMOVE;
}

void
sbx_call_make (SbxCall *self, GBytes *body, SbxCallDone done, gpointer user_data)
{
  SbxCalls *calls = self->calls;
  SbxFrameLink *link = self->target.route == SBX_ROUTE_TOOL ? calls->control : calls->grant;
  SbxFrameType type = SBX_FRAME_TOOL_CALL;
  GByteArray *payload = NULL;
  guint status;

  self->done = done;
  self->user_data = user_data;
  self->entry.request_bytes = (guint32) g_bytes_get_size (body);
  /* The turn may have ended while the body was read. */
  if (calls->ended)
    {
      call_finish (self, 410, SBX_FAILURE_CANCELLED, NULL);
      return;
    }
  status =
    sbx_routes_read_body (&self->target, (const char *const *) calls->kept_members, body, &type, &payload);
  if (status != 0)
    {
      call_finish (self, status, SBX_FAILURE_RULES, NULL);
      return;
    }
  if (link == NULL)
    {
      g_byte_array_unref (payload);
      call_finish (self, 502, SBX_FAILURE_EGRESS_DOWN, NULL);
      return;
    }
  if (!sbx_frame_link_send_packed (link, type, self->id, payload, NULL))
    {
      call_finish (self, 502, SBX_FAILURE_INTERNAL, NULL);
      return;
    }
  self->sent = TRUE;
  self->deadline = sbx_source_after (SBX_CALL_DEADLINE_MSEC, on_call_deadline, self);
}

void
sbx_call_refuse (SbxCall *self, guint status, SbxFailure failure, guint32 request_bytes)
{
  self->entry.request_bytes = request_bytes;
  self->done = NULL;
  call_finish (self, status, failure, NULL);
}

void
sbx_call_drop (SbxCall *self)
{
  self->dropped = TRUE;
  call_cancel (self);
  /* What a host tool does may not run beside the next call: the slot waits for its end. */
  if (!self->sent || self->target.route != SBX_ROUTE_TOOL)
    call_finish (self, 0, SBX_FAILURE_CANCELLED, NULL);
}

/* --- what comes back --- */

static gboolean
on_grant_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  SbxCalls *self = user_data;
  SbxCall *call = self->call;
  g_auto (SbxGrantAnswer) answer = { 0 };

  if (frame->head.type != SBX_FRAME_ANSWER || !sbx_grant_answer_decode (frame->payload, &answer, NULL))
    return FALSE;
  if (call == NULL || !call->sent || call->target.route == SBX_ROUTE_TOOL || call->id != frame->head.id)
    return TRUE; /* of a call that was cancelled */
  call->entry.upstream_status = answer.upstream_status;
  call->entry.prompt_tokens = answer.prompt_tokens;
  call->entry.completion_tokens = answer.completion_tokens;
  if (answer.failure == SBX_FAILURE_NONE && answer.json != NULL)
    call_finish (call, 200, SBX_FAILURE_NONE, answer.json);
  else
    call_finish (call, 502, answer.failure != SBX_FAILURE_NONE ? answer.failure : SBX_FAILURE_INTERNAL, NULL);
  return TRUE;
}

static void
on_grant_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  SbxCalls *self = user_data;

  g_clear_pointer (&self->grant, sbx_frame_link_free);
  if (self->call != NULL && self->call->sent && self->call->target.route != SBX_ROUTE_TOOL)
    call_finish (self->call, 502, SBX_FAILURE_EGRESS_DOWN, NULL);
}

static const SbxFrameLinkEvents grant_events = { .frame = on_grant_frame, .closed = on_grant_closed };

gboolean
sbx_calls_take_tool_result (SbxCalls *self, const SbxFrame *frame)
{
  SbxCall *call = self->call;
  SbxFailure failure;
  g_autoptr (GBytes) text = NULL;
  g_autoptr (GBytes) json = NULL;

  if (!sbx_control_tool_result_decode (frame->payload, &failure, &text, NULL))
    return FALSE;
  if (call == NULL || !call->sent || call->target.route != SBX_ROUTE_TOOL || call->id != frame->head.id)
    return TRUE;
  if (call->dropped)
    {
      call_finish (call, 0, SBX_FAILURE_CANCELLED, NULL);
      return TRUE;
    }
  if (failure == SBX_FAILURE_NONE)
    json = sbx_routes_wrap_text (text);
  if (json != NULL)
    call_finish (call, 200, SBX_FAILURE_NONE, json);
  else
    call_finish (call, 502, failure != SBX_FAILURE_NONE ? failure : SBX_FAILURE_TOOL_FAILED, NULL);
  return TRUE;
}

/* --- the turn --- */

SbxCalls *
sbx_calls_new (const SbxControlConfig *config, SbxFrameLink *control, SbxAudit *audit)
{
  SbxCalls *self = g_new0 (SbxCalls, 1);

  self->control = control;
  self->audit = audit;
  self->kept_members = g_strdupv (config->kept_members);
  self->calls_left = config->call_budget;
  return self;
}

void
sbx_calls_free (SbxCalls *self)
{
  if (self == NULL)
    return;
  if (self->call != NULL)
    {
      self->call->dropped = TRUE;
      call_finish (self->call, 0, SBX_FAILURE_CANCELLED, NULL);
    }
  sbx_frame_link_free (self->grant);
  g_strfreev (self->kept_members);
  g_free (self);
}

void
sbx_calls_start (SbxCalls *self, int grant_fd)
{
  g_return_if_fail (!self->started);

  self->started = TRUE;
  self->grant =
    sbx_frame_link_new (grant_fd, sbx_grant_rules_client, sbx_grant_n_rules_client, &grant_events, self);
}

void
sbx_calls_end (SbxCalls *self)
{
  self->ended = TRUE;
  if (self->call != NULL && self->call->sent)
    {
      call_cancel (self->call);
      call_finish (self->call, self->call->dropped ? 0 : 502, SBX_FAILURE_CANCELLED, NULL);
    }
  g_clear_pointer (&self->grant, sbx_frame_link_free);
}

guint
sbx_calls_admit (SbxCalls *self, const SbxPolicyTarget *target, SbxCall **ret_call)
{
  guint status = sbx_policy_check_turn (self->started && !self->ended, self->call != NULL, self->calls_left);
  SbxCall *call;

  if (status != 0)
    return status;
  call = g_new0 (SbxCall, 1);
  call->calls = self;
  call->target = *target;
  call->id = ++self->last_id;
  call->begun_usec = g_get_monotonic_time ();
  call->entry.route = target->route;
  g_strlcpy (call->entry.name, target->name, sizeof call->entry.name);
  self->calls_left--;
  self->call = call;
  *ret_call = call;
  return 0;
}
