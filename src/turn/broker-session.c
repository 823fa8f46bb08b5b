/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/broker-session.h"

#include <gio/gio.h>
#include <string.h>

#include "base/log.h"
#include "wire/frame-link.h"

/* A broker's whole turn: three frames for each of at most 1,000 calls, its audit, and a few. */
#define MAX_FRAMES 4096u

typedef enum {
  SESSION_NEW,        /* CONFIG not sent */
  SESSION_CONFIGURED, /* READY awaited */
  SESSION_READY,      /* START not sent */
  SESSION_STARTED,    /* an outcome is awaited */
  SESSION_TOLD,       /* REPLY or NO_REPLY came */
} SessionState;

/* One tool call on its way; outlives a session that ends before it. */
typedef struct {
  grefcount refs;
  SbxBrokerSession *session; /* NULL once nobody wants the result */
  guint32 id;
  SbxToolTarget *target;
  GBytes *input;
  GBytes *text;
  GCancellable *cancellable;
} ToolCall;

struct _SbxBrokerSession {
  SessionState state;
  SbxFrameLink *link;
  char *turn;
  char *channel;
  char *speaker_id;
  char *speaker_name;
  char *principal;
  GPtrArray *tools;
  guint *calls; /* so far, by place in tools */
  char **offered;
  char **servers; /* MCP servers on offer */
  guint n_frames;
  guint n_audits;
  SbxEgressClient *egress;
  sd_bus *bus;
  ToolCall *call;
  const SbxBrokerSessionEvents *events;
  gpointer user_data;
};

/* --- tool calls --- */

static ToolCall *
tool_call_ref (ToolCall *self)
{
  g_ref_count_inc (&self->refs);
  return self;
}

static void
tool_call_unref (ToolCall *self)
{
  if (!g_ref_count_dec (&self->refs))
    return;
  sbx_tool_target_unref (self->target);
  g_clear_pointer (&self->input, g_bytes_unref);
  g_clear_pointer (&self->text, g_bytes_unref);
  g_object_unref (self->cancellable);
  g_free (self);
}

/* Gives the slot back and answers the broker. A broker that does not read breaks its own link. */
static void
session_answer_call (SbxBrokerSession *self, SbxFailure failure, GBytes *text)
{
  ToolCall *call = g_steal_pointer (&self->call);

  if (self->link != NULL)
    (void) sbx_frame_link_send_packed (self->link, SBX_FRAME_TOOL_RESULT, call->id,
                                       sbx_control_tool_result_encode (failure, text), NULL);
  call->session = NULL;
  tool_call_unref (call);
}

static void
session_cancel_call (SbxBrokerSession *self)
{
  g_autoptr (GCancellable) cancellable = NULL;

  if (self->call == NULL)
    return;
  cancellable = g_object_ref (self->call->cancellable);
  session_answer_call (self, SBX_FAILURE_CANCELLED, NULL);
  g_cancellable_cancel (cancellable);
}

static void
scan_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  ToolCall *call = user_data;
  SbxFailure failure = sbx_egress_client_scan_finish (result);

  if (call->session != NULL)
    session_answer_call (call->session, failure, failure == SBX_FAILURE_NONE ? call->text : NULL);
  tool_call_unref (call);
}

static void
log_tool_failure (const ToolCall *call, SbxFailure failure)
{
  const SbxBrokerSession *session = call->session;
  const char *const more[] = { "SANDBOX_NAME", call->target->name, NULL };
  const SbxLogFields fields = {
    .turn = session->turn, .channel = session->channel, .reason = sbx_failure_name (failure), .more = more
  };

  /* One that was taken back is no fault of the tool's. */
  if (failure != SBX_FAILURE_CANCELLED)
    sbx_log_event (SBX_LOG_ID_TOOL_FAILED, LOG_WARNING, &fields, "The host tool %s failed a call (%s): %s",
                   call->target->name, sbx_failure_name (failure), sbx_failure_text (failure));
}

static void
tool_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  ToolCall *call = user_data;
  SbxFailure failure = sbx_tool_call_finish (result, &call->text);

  if (call->session != NULL && failure != SBX_FAILURE_NONE)
    {
      log_tool_failure (call, failure);
      session_answer_call (call->session, failure, NULL);
    }
  else if (call->session != NULL)
    sbx_egress_client_scan_async (call->session->egress, call->text, call->cancellable, scan_done,
                                  tool_call_ref (call));
  tool_call_unref (call);
}

static void
charge_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  ToolCall *call = user_data;
  SbxFailure failure = sbx_egress_client_charge_finish (result);
  SbxBrokerSession *self = call->session;

  if (self != NULL && failure != SBX_FAILURE_NONE)
    session_answer_call (self, failure, NULL);
  else if (self != NULL)
    {
      SbxToolIdentity identity = { .turn = self->turn,
                                   .channel = self->channel,
                                   .speaker_id = self->speaker_id,
                                   .speaker_name = self->speaker_name,
                                   .principal = self->principal };

      sbx_tool_call_async (call->target, self->bus, &identity, call->input, call->cancellable, tool_done,
                           tool_call_ref (call));
    }
  tool_call_unref (call);
}

static gboolean
session_find_tool (SbxBrokerSession *self, const char *name, guint *ret_place)
{
  if (!g_strv_contains ((const char *const *) self->offered, name))
    return FALSE;
  for (guint i = 0; i < self->tools->len; i++)
    {
      SbxToolTarget *target = self->tools->pdata[i];

      if (strcmp (target->name, name) != 0)
        continue;
      *ret_place = i;
      return TRUE;
    }
  return FALSE;
}

static gboolean
session_take_tool_call (SbxBrokerSession *self, SbxFrame *frame)
{
  g_autofree char *name = NULL;
  g_autoptr (GBytes) input = NULL;
  ToolCall *call;
  SbxToolTarget *target;
  guint place = 0;

  if (self->state != SESSION_STARTED || self->call != NULL
      || !sbx_control_tool_call_decode (frame->payload, &name, &input, NULL)
      || !session_find_tool (self, name, &place))
    return FALSE;
  target = self->tools->pdata[place];
  call = g_new0 (ToolCall, 1);
  g_ref_count_init (&call->refs);
  call->session = self;
  call->id = frame->head.id;
  call->target = sbx_tool_target_ref (target);
  call->input = g_steal_pointer (&input);
  call->cancellable = g_cancellable_new ();
  self->call = call;
  if (target->max_calls > 0 && self->calls[place] >= target->max_calls)
    {
      session_answer_call (self, SBX_FAILURE_BUDGET_SPENT, NULL);
      return TRUE;
    }
  self->calls[place]++;
  sbx_egress_client_charge_async (self->egress, self->turn, call->cancellable, charge_done,
                                  tool_call_ref (call));
  return TRUE;
}

/* --- the link --- */

/* Nothing is done in its name any more: the worker may stay for a while behind its reply. */
static void
session_end_turn (SbxBrokerSession *self)
{
  self->state = SESSION_TOLD;
  session_cancel_call (self);
}

static gboolean
session_take_outcome (SbxBrokerSession *self, SbxFrame *frame)
{
  g_auto (SbxControlReply) reply = { .ok = FALSE };
  SbxFailure failure = SBX_FAILURE_NONE;

  if (self->state != SESSION_STARTED)
    return FALSE;
  if (frame->head.type == SBX_FRAME_REPLY)
    {
      if (!sbx_control_reply_decode (frame->payload, &reply, NULL))
        return FALSE;
      session_end_turn (self);
      self->events->replied (self, &reply, self->user_data);
      return TRUE;
    }
  if (!sbx_control_no_reply_decode (frame->payload, &failure, NULL) || failure == SBX_FAILURE_NONE)
    return FALSE;
  session_end_turn (self);
  self->events->no_reply (self, failure, self->user_data);
  return TRUE;
}

/* A name goes to the journal: only one that the operator gave, so that a guest cannot write there. */
static gboolean
audit_name_is_ours (const SbxBrokerSession *self, const SbxControlAudit *entry)
{
  if (entry->route == SBX_ROUTE_TOOL)
    return g_strv_contains ((const char *const *) self->offered, entry->name);
  if (entry->route == SBX_ROUTE_MCP)
    return g_strv_contains ((const char *const *) self->servers, entry->name);
  return entry->name[0] == '\0';
}

static gboolean
session_take_audit (SbxBrokerSession *self, SbxFrame *frame)
{
  SbxControlAudit entry;

  if (self->state < SESSION_STARTED || self->n_audits == SBX_CONTROL_MAX_AUDITS
      || !sbx_control_audit_decode (frame->payload, &entry, NULL) || !audit_name_is_ours (self, &entry))
    return FALSE;
  self->n_audits++;
  if (self->events->audit != NULL)
    self->events->audit (self, &entry, self->user_data);
  return TRUE;
}

static gboolean
on_session_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  SbxBrokerSession *self = user_data;

  if (++self->n_frames > MAX_FRAMES)
    return FALSE;
  switch ((guint) frame->head.type)
    {
    case SBX_FRAME_READY:
      if (self->state != SESSION_CONFIGURED)
        return FALSE;
      self->state = SESSION_READY;
      self->events->ready (self, self->user_data);
      return TRUE;
    case SBX_FRAME_TOOL_CALL:
      /* A late call of a worker that lingers behind its reply is no offence of the broker's. */
      if (self->state == SESSION_TOLD)
        return sbx_frame_link_send_packed (link, SBX_FRAME_TOOL_RESULT, frame->head.id,
                                           sbx_control_tool_result_encode (SBX_FAILURE_CANCELLED, NULL),
                                           NULL);
      return session_take_tool_call (self, frame);
    case SBX_FRAME_TOOL_CANCEL:
      if (self->call != NULL && self->call->id == frame->head.id)
        session_cancel_call (self);
      return TRUE;
    case SBX_FRAME_REPLY:
    case SBX_FRAME_NO_REPLY:
      return session_take_outcome (self, frame);
    case SBX_FRAME_AUDIT:
      return session_take_audit (self, frame);
    default:
      return FALSE;
    }
}

static void
on_session_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  SbxBrokerSession *self = user_data;

  g_clear_pointer (&self->link, sbx_frame_link_free);
  session_cancel_call (self);
  self->events->closed (self, error, self->user_data);
}

static const SbxFrameLinkEvents link_events = { .frame = on_session_frame, .closed = on_session_closed };

SbxBrokerSession *
sbx_broker_session_new (int control_fd, GPtrArray *tools, SbxEgressClient *egress,
                        const SbxBrokerSessionEvents *events, gpointer user_data)
{
  SbxBrokerSession *self = g_new0 (SbxBrokerSession, 1);

  self->tools = g_ptr_array_ref (tools);
  self->calls = g_new0 (guint, MAX (tools->len, 1));
  self->offered = g_new0 (char *, 1);
  self->servers = g_new0 (char *, 1);
  self->egress = egress;
  self->events = events;
  self->user_data = user_data;
  self->link = sbx_frame_link_new (control_fd, sbx_control_rules_sandboxd, sbx_control_n_rules_sandboxd,
                                   &link_events, self);
  return self;
}

void
sbx_broker_session_free (SbxBrokerSession *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->link, sbx_frame_link_free);
  session_cancel_call (self);
  g_free (self->turn);
  g_free (self->channel);
  g_free (self->speaker_id);
  g_free (self->speaker_name);
  g_free (self->principal);
  g_ptr_array_unref (self->tools);
  g_free (self->calls);
  g_strfreev (self->offered);
  g_strfreev (self->servers);
  g_free (self);
}

void
sbx_broker_session_set_bus (SbxBrokerSession *self, sd_bus *bus)
{
  self->bus = bus;
}

static gboolean
session_send_fails (SbxBrokerSession *self, GError **error)
{
  if (self->link != NULL)
    return FALSE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "The broker is gone");
  return TRUE;
}

gboolean
sbx_broker_session_configure (SbxBrokerSession *self, const SbxControlConfig *config, GError **error)
{
  g_autoptr (GStrvBuilder) servers = g_strv_builder_new ();

  g_return_val_if_fail (self->state == SESSION_NEW, FALSE);

  if (session_send_fails (self, error))
    return FALSE;
  g_strfreev (self->offered);
  self->offered = g_strdupv (config->tools);
  for (guint i = 0; i < config->servers->len; i++)
    g_strv_builder_add (servers, ((const SbxControlServer *) config->servers->pdata[i])->name);
  g_strfreev (self->servers);
  self->servers = g_strv_builder_end (servers);
  self->state = SESSION_CONFIGURED;
  return sbx_frame_link_send_packed (self->link, SBX_FRAME_CONFIG, 0, sbx_control_config_encode (config),
                                     error);
}

gboolean
sbx_broker_session_start (SbxBrokerSession *self, const SbxToolIdentity *identity, guint32 deadline_msec,
                          int grant_fd, int stream_fd, GError **error)
{
  const int fds[] = { grant_fd, stream_fd };
  g_autoptr (GBytes) payload = g_byte_array_free_to_bytes (sbx_control_start_encode (deadline_msec));

  g_return_val_if_fail (self->state == SESSION_READY, FALSE);

  if (session_send_fails (self, error))
    return FALSE;
  self->turn = g_strdup (identity->turn);
  self->channel = g_strdup (identity->channel);
  self->speaker_id = g_strdup (identity->speaker_id);
  self->speaker_name = g_strdup (identity->speaker_name);
  self->principal = g_strdup (identity->principal);
  self->state = SESSION_STARTED;
  return sbx_frame_link_send (self->link, SBX_FRAME_START, 0, payload, fds, G_N_ELEMENTS (fds), error);
}
