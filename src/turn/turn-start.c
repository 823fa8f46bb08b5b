/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-private.h"

#include "base/log.h"
#include "turn/prepared.h"
#include "turn/turn-json.h"

/* Behind the deadline, for the case that nobody is left to end the scope. */
#define SCOPE_MARGIN_USEC (30u * G_USEC_PER_SEC)

static void
log_started (const SbxTurn *self)
{
  const char *const more[] = { "SANDBOX_PREPARED", self->prepared ? "yes" : "no", "SANDBOX_ID",
                               sbx_sandbox_id (self->sandbox), NULL };
  const SbxLogFields fields = { .turn = self->id,
                                .channel = self->request.channel,
                                .container = sbx_sandbox_container (self->sandbox),
                                .more = more };

  sbx_log_event (SBX_LOG_ID_TURN_STARTED, LOG_INFO, &fields, "Turn %s in %s started%s", self->id,
                 self->request.channel, self->prepared ? ", prepared" : "");
}

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
  /* The last moment at which one that died while it waited costs nothing but time. */
  if (self->made_ahead && !sbx_sandbox_is_fit (self->sandbox) && sbx_turn_fall_back (self))
    return;
  if (!sbx_sandbox_begin (self->sandbox, &identity, sbx_turn_left_msec (self), self->grant_fd, turn, &error))
    {
      if (!sbx_turn_fall_back (self))
        sbx_turn_fail (self, SBX_FAILURE_BROKER_FAILED, error);
      return;
    }
  log_started (self);
  sbx_turn_step (self, SBX_TURN_EVENT_BEGUN);
}

static void
announce_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbxTurn) self = user_data;
  SbxFailure failure = SBX_FAILURE_NONE;
  g_auto (SbxFd) grant_fd = sbx_egress_client_announce_finish (result, &failure);

  self->announcing = FALSE;
  if (!sbx_turn_is_open (self))
    return;
  if (grant_fd < 0)
    {
      sbx_turn_fail (self, failure, NULL);
      return;
    }
  self->grant_fd = g_steal_fd (&grant_fd);
  sbx_turn_go_on (self);
}

static void
announce (SbxTurn *self)
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
sbx_turn_go_on (SbxTurn *self)
{
  if (!self->sandbox_ready || self->announcing)
    return;
  if (self->grant_fd >= 0)
    {
      begin (self);
      return;
    }
  self->announcing = TRUE;
  announce (self);
}

static void
make_sandbox (SbxTurn *self, const char *id)
{
  self->sandbox = sbx_sandbox_new (self->context, id, self->request.channel,
                                   self->deadline_usec + SCOPE_MARGIN_USEC, &sbx_turn_sandbox_events, self);
  sbx_sandbox_make (self->sandbox, FALSE);
}

/* Only before the worker got anything: nothing of the turn has happened yet, so it can begin once more. */
gboolean
sbx_turn_fall_back (SbxTurn *self)
{
  if (!self->made_ahead || self->state != SBX_TURN_STATE_PREPARING)
    return FALSE;
  sbx_log (LOG_NOTICE, &(SbxLogFields){ .turn = self->id, .channel = self->request.channel },
           "Turn %s makes a sandbox of its own: the one that was prepared (%s) is no good any more", self->id,
           sbx_sandbox_id (self->sandbox));
  self->made_ahead = self->prepared = self->sandbox_ready = FALSE;
  sbx_prepared_give_back (self->context->prepared, g_steal_pointer (&self->sandbox));
  make_sandbox (self, self->id);
  return TRUE;
}

/* With cgroup v1 runc now and then does not find the group that systemd is about to make, when many
 * containers start at once. */
gboolean
sbx_turn_try_again (SbxTurn *self, SbxFailure failure, const GError *error)
{
  g_autofree char *id = NULL;

  if (failure != SBX_FAILURE_DOCKER_REFUSED || self->tried_again || self->context->prepared == NULL
      || self->state != SBX_TURN_STATE_PREPARING || !sbx_sandbox_is_created (self->sandbox))
    return FALSE;
  sbx_log (LOG_NOTICE, &(SbxLogFields){ .turn = self->id, .channel = self->request.channel },
           "Turn %s makes another container, since Docker did not start the first: %s", self->id,
           error != NULL ? error->message : "no reason given");
  self->tried_again = TRUE;
  self->sandbox_ready = FALSE;
  sbx_prepared_give_back (self->context->prepared, g_steal_pointer (&self->sandbox));
  id = sbx_turn_make_id ();
  make_sandbox (self, id);
  return TRUE;
}

void
sbx_turn_prepare (SbxTurn *self)
{
  SbxPrepared *prepared = self->context->prepared;

  self->n_lost = sbx_image_watch_n_lost (self->context->images);
  if (prepared != NULL)
    self->sandbox =
      sbx_prepared_take (prepared, self->request.channel, &sbx_turn_sandbox_events, self, &self->prepared);
  if (self->sandbox == NULL)
    {
      make_sandbox (self, self->id);
      return;
    }
  self->made_ahead = TRUE;
  self->sandbox_ready = self->prepared;
  sbx_turn_go_on (self);
}
