/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-private.h"

#include "base/log.h"
#include "turn/turn-json.h"

/* Behind the deadline, for the case that nobody is left to end the scope. */
#define SCOPE_MARGIN_USEC (30u * G_USEC_PER_SEC)

/* The sandbox is ready and the turn may call out: it begins. */
static void
begin (SbxTurn *self)
{
  const SbxTurnRequest *request = &self->request;
  const SbxToolIdentity identity = { .turn = self->id,
                                     .channel = request->channel,
                                     .speaker_id = request->speaker_id,
                                     .speaker_name = request->speaker_name,
                                     .principal = request->principal };
  const SbxTurnWords words = { .text = request->text,
                               .speaker_id = request->speaker_id,
                               .speaker_name = request->speaker_name,
                               .reset = self->generation > 0,
                               .left_msec = sbx_turn_left_msec (self) };
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) turn = sbx_turn_json_write (self->context->settings, &words, &error);

  if (turn == NULL)
    {
      sbx_turn_fail (self, SBX_FAILURE_INTERNAL, error);
      return;
    }
  if (!sbx_sandbox_begin (self->sandbox, &identity, sbx_turn_left_msec (self), self->grant_fd, turn, &error))
    {
      sbx_turn_fail (self, SBX_FAILURE_BROKER_FAILED, error);
      return;
    }
  sbx_log_event (SBX_LOG_ID_TURN_STARTED, LOG_INFO,
                 &(SbxLogFields){ .turn = self->id,
                                  .channel = request->channel,
                                  .container = sbx_sandbox_container (self->sandbox) },
                 "Turn %s in %s started", self->id, request->channel);
  sbx_turn_step (self, SBX_TURN_EVENT_BEGUN);
}

static void
announce_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxTurn) self = user_data;
  SbxFailure failure = SBX_FAILURE_NONE;
  g_auto (SbxFd) grant_fd = sbx_egress_client_announce_finish (result, &failure);

  if (!sbx_turn_is_open (self))
    return;
  if (grant_fd < 0)
    {
      sbx_turn_fail (self, failure, NULL);
      return;
    }
  self->grant_fd = g_steal_fd (&grant_fd);
  begin (self);
}

void
sbx_turn_announce (SbxTurn *self)
{
  const SbxConfig *config = self->context->settings->config;
  GPtrArray *servers = self->context->settings->servers;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (SbxGrant) grant = NULL;

  for (guint i = 0; i < servers->len; i++)
    g_ptr_array_add (names, ((SbxMcpServer *) servers->pdata[i])->name);
  g_ptr_array_add (names, NULL);
  grant = sbx_grant_new (self->id, self->request.channel, self->request.speaker_id, sbx_turn_left_msec (self),
                         (guint32) config->calls, (const char *const *) names->pdata);
  sbx_egress_client_announce_async (self->context->egress, grant, self->cancellable, announce_done,
                                    sbx_turn_ref (self));
}

void
sbx_turn_prepare (SbxTurn *self)
{
  self->sandbox = sbx_sandbox_new (self->context, self->id, self->request.channel,
                                   self->deadline_usec + SCOPE_MARGIN_USEC, &sbx_turn_sandbox_events, self);
  sbx_sandbox_make (self->sandbox);
}
