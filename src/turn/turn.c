/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-private.h"

#include <sys/random.h>
#include <sys/socket.h>

#include "base/log.h"
#include "turn/prepared.h"
#include "turn/tool-call.h"

GPtrArray *
sbx_turn_tools_new (GPtrArray *tools)
{
  GPtrArray *targets = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_tool_target_unref);

  for (guint i = 0; i < tools->len; i++)
    {
      const SbxTool *tool = tools->pdata[i];
      SbxToolTarget *target;

      if (tool->socket != NULL)
        target = sbx_tool_target_new_socket (tool->spec.name, tool->socket);
      else
        target = sbx_tool_target_new_bus (tool->spec.name, tool->bus_name, tool->bus_path,
                                          tool->bus_interface, tool->bus_method);
      target->deadline_msec = tool->deadline_sec * 1000;
      target->max_calls = tool->max_calls;
      g_ptr_array_add (targets, target);
    }
  return targets;
}

/* 16 hex digits of 64 random bits: never the same twice within a boot. */
char *
sbx_turn_make_id (void)
{
  guint64 number = 0;

  if (getrandom (&number, sizeof number, 0) != sizeof number)
    number = ((guint64) g_random_int () << 32) | g_random_int ();
  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x", number);
}

SbxTurn *
sbx_turn_new (SbxTurnContext *context, const char *id, const SbxTurnRequest *request, gint64 accepted_usec,
              const SbxTurnEvents *events, gpointer user_data)
{
  SbxTurn *self = g_new0 (SbxTurn, 1);

  g_ref_count_init (&self->refs);
  self->context = context;
  self->events = events;
  self->user_data = user_data;
  self->id = g_strdup (id);
  sbx_turn_request_init (&self->request, request);
  self->accepted_usec = accepted_usec;
  self->state_since_usec = accepted_usec;
  /* It may have waited since before a restart. */
  self->state_usec = g_get_monotonic_time () - MAX (g_get_real_time () - accepted_usec, 0);
  self->cancellable = g_cancellable_new ();
  self->grant_fd = -1;
  self->exit_status = -1;
  return self;
}

SbxTurn *
sbx_turn_ref (SbxTurn *self)
{
  g_ref_count_inc (&self->refs);
  return self;
}

void
sbx_turn_unref (SbxTurn *self)
{
  if (self == NULL || !g_ref_count_dec (&self->refs))
    return;
  sbx_deadline_free (self->deadline);
  sbx_deadline_free (self->patience);
  if (self->cleaning != NULL)
    sbx_rest_work_cancel (self->cleaning);
  sbx_sandbox_unref (self->sandbox);
  sbx_fd_close (self->grant_fd);
  sbx_outcome_clear (&self->outcome);
  sbx_control_reply_clear (&self->reply);
  g_object_unref (self->cancellable);
  g_free (self->id);
  sbx_turn_request_clear (&self->request);
  g_free (self);
}

/* --- recording --- */

static void
record (SbxTurn *self)
{
  g_auto (GStrv) more = sbx_turn_usage_to_fields (&self->usage);
  gint64 msec =
    (self->usage.phase_usec[SBX_TURN_STATE_PREPARING] + self->usage.phase_usec[SBX_TURN_STATE_RUNNING])
    / 1000;
  const SbxLogFields fields = {
    .turn = self->id,
    .channel = self->request.channel,
    .outcome = sbx_outcome_name (self->outcome.kind),
    .reason = sbx_failure_name (self->outcome.failure),
    .container = self->sandbox != NULL ? sbx_sandbox_container (self->sandbox) : NULL,
    .more = (const char *const *) more,
  };

  if (self->outcome.kind == SBX_OUTCOME_REPLIED)
    sbx_log_event (SBX_LOG_ID_TURN_FINISHED, LOG_INFO, &fields,
                   "Turn %s in %s replied after %" G_GINT64_FORMAT " ms and %" G_GUINT64_FORMAT " calls",
                   self->id, self->request.channel, msec, self->usage.calls);
  else if (self->outcome.kind == SBX_OUTCOME_REFUSED)
    sbx_log_event (SBX_LOG_ID_TURN_FINISHED, LOG_INFO, &fields, "Turn %s in %s was refused (%s): %s",
                   self->id, self->request.channel, sbx_failure_name (self->outcome.failure),
                   sbx_failure_text (self->outcome.failure));
  else
    sbx_log_event (SBX_LOG_ID_TURN_FINISHED,
                   self->outcome.failure == SBX_FAILURE_CANCELLED ? LOG_INFO : LOG_WARNING, &fields,
                   "Turn %s in %s ended without a reply (%s): %s", self->id, self->request.channel,
                   sbx_failure_name (self->outcome.failure), sbx_failure_text (self->outcome.failure));
}

/* --- states --- */

static void
count_time (SbxTurn *self, SbxTurnState before)
{
  gint64 now = g_get_monotonic_time ();

  if (self->state == before)
    return;
  self->usage.phase_usec[before] += now - self->state_usec;
  self->state_usec = now;
  self->state_since_usec = g_get_real_time ();
}

static void
on_rested (gpointer user_data)
{
  SbxTurn *self = user_data;

  self->cleaning = NULL;
  sbx_sandbox_end (self->sandbox, FALSE);
}

static void
clean (SbxTurn *self)
{
  /* The right to call out ends now, whoever holds a copy. */
  if (self->grant_fd >= 0)
    (void) shutdown (self->grant_fd, SHUT_RDWR);
  sbx_fd_close (g_steal_fd (&self->grant_fd));
  if (self->outcome.kind == SBX_OUTCOME_REPLIED)
    self->cleaning = sbx_rest_put_off (self->context->rest, self, on_rested, self);
  /* A worker that has replied is about to end by itself. */
  if (self->cleaning == NULL)
    sbx_sandbox_end (self->sandbox, self->outcome.kind != SBX_OUTCOME_REPLIED);
}

void
sbx_turn_step (SbxTurn *self, SbxTurnEvent event)
{
  SbxTurnState before = self->state;
  SbxTurnAction action = sbx_turn_state_step (before, event, &self->state);

  if (action == SBX_TURN_ACTION_NOTHING)
    return;
  if (action == SBX_TURN_ACTION_BUG)
    {
      const SbxLogFields fields = { .turn = self->id, .reason = "internal" };

      sbx_log (LOG_ERR, &fields, "Turn %s met event %d in state %s; this is a fault in sandboxd", self->id,
               (int) event, sbx_turn_state_name (before));
      self->state = before;
      sbx_turn_settle (self, SBX_OUTCOME_FAILED, SBX_FAILURE_INTERNAL);
      return;
    }

  (void) sbx_turn_ref (self);
  count_time (self, before);
  if (action == SBX_TURN_ACTION_PREPARE || action == SBX_TURN_ACTION_TELL_AND_CLEAN)
    sbx_rest_turn (self->context->rest, self);
  if (action == SBX_TURN_ACTION_TELL_AND_CLEAN || action == SBX_TURN_ACTION_TELL_AND_LEAVE)
    {
      g_cancellable_cancel (self->cancellable);
      g_clear_pointer (&self->deadline, sbx_deadline_free);
      g_clear_pointer (&self->patience, sbx_deadline_free);
      record (self);
      self->events->told (self, &self->outcome, self->user_data);
    }
  if (self->events->changed != NULL)
    self->events->changed (self, self->user_data);
  if (action == SBX_TURN_ACTION_PREPARE)
    sbx_turn_prepare (self);
  else if (action == SBX_TURN_ACTION_TELL_AND_CLEAN)
    {
      clean (self);
      if (self->context->prepared != NULL)
        sbx_prepared_used (self->context->prepared, self->request.channel);
    }
  else if (action == SBX_TURN_ACTION_TELL_AND_LEAVE || action == SBX_TURN_ACTION_LEAVE)
    self->events->left (self, self->user_data);
  sbx_turn_unref (self);
}

void
sbx_turn_settle (SbxTurn *self, SbxOutcomeKind kind, SbxFailure failure)
{
  if (self->outcome.kind != SBX_OUTCOME_NONE)
    return;
  self->outcome.kind = kind;
  self->outcome.failure = failure;
  if (kind == SBX_OUTCOME_REPLIED)
    {
      self->outcome.ok = self->reply.ok;
      self->outcome.text = g_steal_pointer (&self->reply.text);
      if (self->outcome.ok)
        sbx_resets_consume (self->context->resets, self->request.channel, self->generation);
    }
  sbx_turn_step (self, SBX_TURN_EVENT_SETTLED);
}

void
sbx_turn_fail (SbxTurn *self, SbxFailure failure, const GError *error)
{
  if (self->outcome.kind != SBX_OUTCOME_NONE)
    return;
  if (error != NULL)
    {
      const SbxLogFields fields = { .turn = self->id,
                                    .channel = self->request.channel,
                                    .reason = sbx_failure_name (failure) };

      sbx_log (LOG_ERR, &fields, "Turn %s: %s", self->id, error->message);
    }
  sbx_turn_settle (self, sbx_outcome_kind_of (failure), failure);
}

gboolean
sbx_turn_is_open (const SbxTurn *self)
{
  return self->outcome.kind == SBX_OUTCOME_NONE
         && (self->state == SBX_TURN_STATE_PREPARING || self->state == SBX_TURN_STATE_RUNNING);
}

guint
sbx_turn_left_msec (const SbxTurn *self)
{
  return self->deadline != NULL ? MAX (sbx_deadline_left_msec (self->deadline), 1) : 1;
}

static void
on_turn_deadline (gpointer user_data)
{
  sbx_turn_fail (user_data, SBX_FAILURE_DEADLINE, NULL);
}

void
sbx_turn_admit (SbxTurn *self)
{
  self->generation = sbx_resets_generation (self->context->resets, self->request.channel);
  self->deadline_usec = self->request.deadline_msec != 0 ? self->request.deadline_msec * UINT64_C (1000)
                                                         : self->context->settings->config->deadline_usec;
  self->deadline = sbx_deadline_new ((guint) (self->deadline_usec / 1000), on_turn_deadline, self);
  sbx_turn_step (self, SBX_TURN_EVENT_ADMITTED);
}

void
sbx_turn_stop (SbxTurn *self, SbxFailure failure)
{
  sbx_turn_fail (self, failure, NULL);
}

void
sbx_turn_stop_with (SbxTurn *self, SbxFailure failure, const GError *error)
{
  sbx_turn_fail (self, failure, error);
}

void
sbx_turn_hurry (SbxTurn *self)
{
  if (self->state != SBX_TURN_STATE_FINISHING)
    return;
  g_clear_pointer (&self->cleaning, sbx_rest_work_cancel);
  sbx_sandbox_end (self->sandbox, TRUE);
}

gboolean
sbx_turn_rests (const SbxTurn *self)
{
  return self->cleaning != NULL;
}

const char *
sbx_turn_id (const SbxTurn *self)
{
  return self->id;
}

const char *
sbx_turn_channel (const SbxTurn *self)
{
  return self->request.channel;
}

SbxTurnState
sbx_turn_state (const SbxTurn *self)
{
  return self->state;
}

const SbxTurnRequest *
sbx_turn_request (const SbxTurn *self)
{
  return &self->request;
}

guint32
sbx_turn_uid (const SbxTurn *self)
{
  return self->request.uid;
}

gint64
sbx_turn_accepted_usec (const SbxTurn *self)
{
  return self->accepted_usec;
}

gint64
sbx_turn_state_since_usec (const SbxTurn *self)
{
  return self->state_since_usec;
}

const char *
sbx_turn_waits_for (const SbxTurn *self)
{
  const char *part = self->sandbox != NULL ? sbx_sandbox_waits_for (self->sandbox) : NULL;

  if (self->state == SBX_TURN_STATE_PREPARING)
    return part != NULL ? part : "egress";
  if (self->state == SBX_TURN_STATE_RUNNING)
    return "worker";
  if (self->cleaning != NULL)
    return "turn";
  return part != NULL ? part : "";
}

const SbxTurnUsage *
sbx_turn_usage (const SbxTurn *self)
{
  return &self->usage;
}
