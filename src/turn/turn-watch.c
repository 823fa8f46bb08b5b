/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-private.h"

#include "base/log.h"

/* Exit status and reply come from different processes; how long the one is waited for behind the other. */
#define PATIENCE_MSEC 5000u
#define INSPECT_MSEC  3000u

/* --- why it failed --- */

/* When Docker ends, it ends its containers first, and takes no new connections meanwhile: whoever answers
 * then is another Docker, and the old one has hung up before. */
static gboolean
docker_has_ended (const SbxTurn *self, const GError *inspect_error)
{
  return g_error_matches (inspect_error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN)
         || sbx_image_watch_n_lost (self->context->images) != self->n_lost;
}

static void fail_with_words (SbxTurn *self, SbxFailure failure, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
fail_with_words (SbxTurn *self, SbxFailure failure, const char *format, ...)
{
  g_autoptr (GError) error = NULL;
  va_list words;

  va_start (words, format);
  error = g_error_new_valist (G_IO_ERROR, G_IO_ERROR_FAILED, format, words);
  va_end (words);
  sbx_turn_fail (self, failure, error);
}

static void
inspect_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxTurn) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxContainerState) state = sbx_engine_container_inspect_finish (result, &error);
  gint64 exit_status = state != NULL ? state->exit_status : self->exit_status;
  /* 128 and a signal's number; 137 alone is "killed", never "out of memory". */
  gboolean killed = exit_status > 128 && exit_status < 192;

  if (!sbx_turn_is_open (self))
    return;
  if ((state != NULL && state->oom_killed) || sbx_sandbox_saw_oom (self->sandbox))
    {
      sbx_log_event (SBX_LOG_ID_WORKER_OOM, LOG_WARNING,
                     &(SbxLogFields){ .turn = self->id,
                                      .channel = self->request.channel,
                                      .container = sbx_sandbox_container (self->sandbox) },
                     "The worker of turn %s used more memory than it may", self->id);
      sbx_turn_fail (self, SBX_FAILURE_WORKER_OOM, NULL);
    }
  else if ((killed || !self->has_reply) && docker_has_ended (self, error))
    fail_with_words (self, SBX_FAILURE_DOCKER_DOWN, "Docker ended, or was restarted, and the worker with it");
  else if (killed)
    fail_with_words (
      self, SBX_FAILURE_WORKER_KILLED,
      "the worker was ended by signal %d that sandboxd did not send: by an operator, by systemd "
      "or by itself",
      (int) exit_status - 128);
  else if (sbx_sandbox_saw_pids (self->sandbox))
    sbx_turn_fail (self, SBX_FAILURE_WORKER_PIDS, NULL);
  else if (self->has_reply && self->reply.failure != SBX_FAILURE_NONE)
    sbx_turn_fail (self, self->reply.failure, NULL);
  else
    sbx_turn_fail (
      self, self->model_failure != SBX_FAILURE_NONE ? self->model_failure : SBX_FAILURE_WORKER_FAILED, NULL);
}

/* No reply that counts, for a reason that only the container's state and the last model call can tell. */
static void
ask_why (SbxTurn *self)
{
  if (self->asking_why)
    return;
  self->asking_why = TRUE;
  g_clear_pointer (&self->patience, sbx_deadline_free);
  sbx_engine_container_inspect_async (self->context->engine, sbx_sandbox_container (self->sandbox),
                                      INSPECT_MSEC, self->cancellable, inspect_done, sbx_turn_ref (self));
}

/* --- reply and exit status --- */

static void
on_patience_over (gpointer user_data)
{
  SbxTurn *self = user_data;

  if (!sbx_turn_is_open (self))
    return;
  /* Our own worker's word counts by itself; another's only with its status. */
  if (self->has_reply && sbx_sandbox_is_own_image (self->sandbox) && self->model_failure == SBX_FAILURE_NONE)
    sbx_turn_settle (self, SBX_OUTCOME_REPLIED, SBX_FAILURE_NONE);
  else
    ask_why (self);
}

static void
be_patient (SbxTurn *self)
{
  if (self->patience == NULL)
    self->patience = sbx_deadline_new (PATIENCE_MSEC, on_patience_over, self);
}

static void
weigh (SbxTurn *self)
{
  if (!sbx_turn_is_open (self) || self->asking_why)
    return;
  if (self->has_reply
      && ((self->reply.ok && sbx_sandbox_is_own_image (self->sandbox))
          || (self->exited && self->exit_status == 0)))
    sbx_turn_settle (self, SBX_OUTCOME_REPLIED, SBX_FAILURE_NONE);
  else if (self->has_reply && self->exited)
    ask_why (self);
  else
    be_patient (self);
}

/* --- the sandbox's words --- */

static void
on_sandbox_ready (gpointer user_data)
{
  SbxTurn *self = user_data;

  if (!sbx_turn_is_open (self))
    return;
  self->sandbox_ready = TRUE;
  sbx_turn_go_on (self);
}

static void
on_sandbox_failed (SbxFailure failure, const GError *error, gpointer user_data)
{
  SbxTurn *self = user_data;

  if (sbx_turn_is_open (self) && !sbx_turn_fall_back (self) && !sbx_turn_try_again (self, failure, error))
    sbx_turn_fail (self, failure, error);
}

static void
on_sandbox_exited (gint64 exit_status, gpointer user_data)
{
  SbxTurn *self = user_data;

  if (!sbx_turn_is_open (self) || sbx_turn_fall_back (self))
    return;
  self->exited = TRUE;
  self->exit_status = exit_status;
  weigh (self);
}

static void
on_sandbox_replied (SbxControlReply *reply, gpointer user_data)
{
  SbxTurn *self = user_data;

  if (!sbx_turn_is_open (self))
    return;
  self->reply = *reply;
  reply->text = NULL;
  self->has_reply = TRUE;
  sbx_turn_log_notes (self);
  weigh (self);
}

static void
on_sandbox_no_reply (SbxFailure failure, gpointer user_data)
{
  SbxTurn *self = user_data;

  if (!sbx_turn_is_open (self))
    return;
  if (failure == SBX_FAILURE_WORKER_FAILED)
    ask_why (self);
  else
    sbx_turn_fail (self, failure, NULL);
}

static const char *
route_name (SbxRoute route)
{
  switch (route)
    {
    case SBX_ROUTE_MODEL:
      return "model";
    case SBX_ROUTE_TOOL:
      return "tool";
    case SBX_ROUTE_MCP:
      return "mcp";
    case SBX_ROUTE_NONE:
    default:
      return "none";
    }
}

/* A call's failure as the reason of a turn. What only sandboxd can know stays its own: a call that the worker
 * hung up on is no cancelled turn, and one that took too long is no deadline of the turn's. */
static SbxFailure
model_failure_of (const SbxControlAudit *entry)
{
  if (entry->status == 200)
    return SBX_FAILURE_NONE;
  switch ((guint) entry->failure)
    {
    case SBX_FAILURE_EGRESS_DOWN:
    case SBX_FAILURE_KEY_MISSING:
    case SBX_FAILURE_MODEL_REFUSED:
    case SBX_FAILURE_MODEL_UNREACHABLE:
    case SBX_FAILURE_MODEL_ANSWER:
    case SBX_FAILURE_MODEL_TIMEOUT:
    case SBX_FAILURE_RATE_LIMITED:
    case SBX_FAILURE_ADDRESS_REFUSED:
    case SBX_FAILURE_KEY_REFLECTED:
    case SBX_FAILURE_BUDGET_SPENT:
    case SBX_FAILURE_RULES:
    case SBX_FAILURE_INTERNAL:
      return entry->failure;
    case SBX_FAILURE_DEADLINE:
      return SBX_FAILURE_MODEL_TIMEOUT;
    default:
      return SBX_FAILURE_WORKER_FAILED;
    }
}

static void
on_sandbox_audit (const SbxControlAudit *entry, gpointer user_data)
{
  SbxTurn *self = user_data;
  g_autofree char *status = g_strdup_printf ("%u", entry->status);
  g_autofree char *upstream = g_strdup_printf ("%u", entry->upstream_status);
  g_autofree char *asked = g_strdup_printf ("%u", entry->request_bytes);
  g_autofree char *answered = g_strdup_printf ("%u", entry->answer_bytes);
  g_autofree char *msec = g_strdup_printf ("%u", entry->duration_msec);
  const char *const more[] = { "SANDBOX_ROUTE",
                               route_name (entry->route),
                               "SANDBOX_NAME",
                               entry->name,
                               "SANDBOX_STATUS",
                               status,
                               "SANDBOX_UPSTREAM_STATUS",
                               upstream,
                               "SANDBOX_REQUEST_BYTES",
                               asked,
                               "SANDBOX_ANSWER_BYTES",
                               answered,
                               "SANDBOX_MSEC",
                               msec,
                               NULL };
  const SbxLogFields fields = { .turn = self->id,
                                .channel = self->request.channel,
                                .principal = self->request.principal,
                                .reason = sbx_failure_name (entry->failure),
                                .more = more };
  gboolean fine = entry->status == 200;

  sbx_turn_usage_add_call (&self->usage, entry);
  if (entry->route == SBX_ROUTE_MODEL)
    self->model_failure = model_failure_of (entry);
  sbx_log_event (fine ? SBX_LOG_ID_CALL : SBX_LOG_ID_CALL_REFUSED, fine ? LOG_INFO : LOG_NOTICE, &fields,
                 "Turn %s called %s%s%s: %s in %s ms", self->id, route_name (entry->route),
                 *entry->name != '\0' ? " " : "", entry->name, status, msec);
}

static void
on_sandbox_closed (const GError *error, gpointer user_data)
{
  SbxTurn *self = user_data;

  if (!sbx_turn_is_open (self) || sbx_turn_fall_back (self))
    return;
  /* What it said before counts; the worker's exit decides. */
  if (self->has_reply || self->asking_why)
    return;
  sbx_log_event (
    SBX_LOG_ID_BROKER_FAILED, LOG_ERR,
    &(SbxLogFields){ .turn = self->id, .channel = self->request.channel, .reason = "broker-failed" },
    "The broker of turn %s is gone: %s", self->id,
    error != NULL ? error->message : "it closed its control socket");
  sbx_turn_fail (self, SBX_FAILURE_BROKER_FAILED, NULL);
}

static void
on_sandbox_gone (gpointer user_data)
{
  sbx_turn_step (user_data, SBX_TURN_EVENT_CLEANED);
}

const SbxSandboxEvents sbx_turn_sandbox_events = {
  .ready = on_sandbox_ready,
  .failed = on_sandbox_failed,
  .exited = on_sandbox_exited,
  .closed = on_sandbox_closed,
  .replied = on_sandbox_replied,
  .no_reply = on_sandbox_no_reply,
  .audit = on_sandbox_audit,
  .gone = on_sandbox_gone,
};
