/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/grants.h"

#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "egress/permit.h"
#include "egress/turn-calls.h"
#include "wire/frame-link.h"
#include "wire/grant.h"

/* The longest turn there can be, and what sandboxd may add for its own end of it. */
#define MAX_DEADLINE_MSEC (660u * 1000u)
#define MAX_BUDGET        1000u
/* A connection says what it is at once. */
#define HELLO_SEC 10u
/* Past its end a grant's answers are only refusals: after this, its connection goes too. */
#define GRACE_MSEC 5000u

struct _SbxGrants {
  SbxUpstream *upstream;
  SbxEndpoints *endpoints;
  SbxGrantsReload reload;
  gpointer user_data;
  GHashTable *peers; /* set of Peer */
  GHashTable *turns; /* turn id, of the grant, to its Peer */
  guint n_services;
};

typedef struct {
  SbxGrants *grants;
  SbxFrameLink *link;
  SbxPeerState state;
  SbxTurnCalls *calls; /* of a grant */
  guint timer;         /* source id: hello, then the grant's end */
} Peer;

static void
peer_free (gpointer data)
{
  Peer *self = data;

  if (self->calls != NULL)
    (void) g_hash_table_remove (self->grants->turns, sbx_turn_calls_grant (self->calls)->turn);
  if (self->state == SBX_PEER_SERVICE)
    self->grants->n_services--;
  if (self->timer != 0)
    (void) g_source_remove (self->timer);
  sbx_turn_calls_free (self->calls);
  sbx_frame_link_free (self->link);
  g_free (self);
}

static void
peer_drop (Peer *self)
{
  (void) g_hash_table_remove (self->grants->peers, self);
}

static gboolean
on_peer_timer (gpointer user_data)
{
  Peer *self = user_data;

  self->timer = 0;
  peer_drop (self);
  return G_SOURCE_REMOVE;
}

static gboolean
send_verdict (Peer *self, SbxFrameType type, guint32 id, SbxFailure failure)
{
  return sbx_frame_link_send_packed (self->link, type, id, sbx_grant_verdict_encode (failure), NULL);
}

/* --- a turn's grant --- */

static void
on_answer (guint32 id, const SbxGrantAnswer *answer, gpointer user_data)
{
  Peer *self = user_data;

  /* A peer that does not read its answers is told by the closed event or by its end. */
  (void) sbx_frame_link_send_packed (self->link, SBX_FRAME_ANSWER, id, sbx_grant_answer_encode (answer),
                                     NULL);
}

static void
log_refused (const SbxGrant *grant, SbxFailure failure, const char *why)
{
  sbx_log (
    LOG_WARNING,
    &(SbxLogFields){ .turn = grant->turn, .channel = grant->channel, .reason = sbx_failure_name (failure) },
    "A turn may not call out: %s", why);
}

static SbxFailure
judge_grant (SbxGrants *self, const SbxGrant *grant)
{
  SbxTarget *model = sbx_endpoints_model (self->endpoints);
  g_autoptr (SbxSecret) key = NULL;

  if (g_hash_table_size (self->turns) >= SBX_MAX_GRANTS)
    {
      log_refused (grant, SBX_FAILURE_INTERNAL, "there are too many turns already");
      return SBX_FAILURE_INTERNAL;
    }
  if (model == NULL)
    {
      log_refused (grant, SBX_FAILURE_MODEL_UNREACHABLE, "sandboxd.conf has no URL= in [Model]");
      return SBX_FAILURE_MODEL_UNREACHABLE;
    }
  if (!sbx_target_take_key (model, &key))
    return SBX_FAILURE_KEY_MISSING;
  for (gsize i = 0; grant->servers[i] != NULL; i++)
    if (sbx_endpoints_server (self->endpoints, grant->servers[i]) == NULL)
      {
        log_refused (grant, SBX_FAILURE_INTERNAL,
                     "it names an MCP server that is not configured here: after a change, systemctl reload "
                     "sandboxd has both services read it");
        return SBX_FAILURE_INTERNAL;
      }
  return SBX_FAILURE_NONE;
}

/* FALSE: no honest sandboxd says this. */
static gboolean
take_announce (Peer *self, const SbxFrame *frame)
{
  g_autoptr (SbxGrant) grant = sbx_grant_decode (frame->payload, NULL);
  SbxFailure failure;

  if (grant == NULL || grant->turn[0] == '\0' || grant->deadline_msec == 0
      || grant->deadline_msec > MAX_DEADLINE_MSEC || grant->call_budget == 0
      || grant->call_budget > MAX_BUDGET || g_hash_table_contains (self->grants->turns, grant->turn))
    return FALSE;
  failure = judge_grant (self->grants, grant);
  if (failure != SBX_FAILURE_NONE)
    {
      self->state = SBX_PEER_REFUSED;
      return send_verdict (self, SBX_FRAME_GRANTED, frame->head.id, failure);
    }
  (void) g_source_remove (self->timer);
  self->timer = g_timeout_add (grant->deadline_msec + GRACE_MSEC, on_peer_timer, self);
  self->calls = sbx_turn_calls_new (self->grants->upstream, self->grants->endpoints, g_steal_pointer (&grant),
                                    on_answer, self);
  g_hash_table_insert (self->grants->turns, sbx_turn_calls_grant (self->calls)->turn, self);
  return send_verdict (self, SBX_FRAME_GRANTED, frame->head.id, SBX_FAILURE_NONE);
}

static gboolean
take_model_call (Peer *self, const SbxFrame *frame)
{
  g_autoptr (GBytes) messages = NULL;
  g_autoptr (GBytes) tools = NULL;

  return sbx_grant_model_call_decode (frame->payload, &messages, &tools, NULL)
         && sbx_turn_calls_model (self->calls, frame->head.id, messages, tools);
}

static gboolean
take_mcp_call (Peer *self, const SbxFrame *frame)
{
  g_autofree char *server = NULL;
  g_autofree char *tool = NULL;
  g_autoptr (GBytes) arguments = NULL;

  return sbx_grant_mcp_call_decode (frame->payload, &server, &tool, &arguments, NULL)
         && sbx_turn_calls_mcp (self->calls, frame->head.id, server, tool, arguments);
}

/* --- sandboxd's questions --- */

static gboolean
take_service (Peer *self)
{
  if (self->grants->n_services >= SBX_MAX_SERVICE_CONNECTIONS)
    {
      self->state = SBX_PEER_REFUSED; /* not counted when it is freed */
      return FALSE;
    }
  self->grants->n_services++;
  (void) g_source_remove (self->timer);
  self->timer = 0;
  return TRUE;
}

static gboolean
take_charge (Peer *self, const SbxFrame *frame)
{
  g_autofree char *turn = NULL;
  Peer *grant;

  if (!sbx_grant_charge_decode (frame->payload, &turn, NULL))
    return FALSE;
  grant = g_hash_table_lookup (self->grants->turns, turn);
  return send_verdict (self, SBX_FRAME_CHARGED, frame->head.id,
                       grant != NULL && sbx_turn_calls_charge (grant->calls) ? SBX_FAILURE_NONE
                                                                             : SBX_FAILURE_BUDGET_SPENT);
}

static gboolean
take_scan (Peer *self, const SbxFrame *frame)
{
  gsize n_bytes;
  const char *data = g_bytes_get_data (frame->payload, &n_bytes);
  gboolean found =
    n_bytes > 0
    && sbx_reflection_finds_in_text (sbx_endpoints_reflection (self->grants->endpoints), data, n_bytes);

  if (found)
    sbx_log_event (SBX_LOG_ID_KEY_REFLECTED, LOG_WARNING,
                   &(SbxLogFields){ .reason = sbx_failure_name (SBX_FAILURE_KEY_REFLECTED) },
                   "The result of a host tool held a live key and was kept back");
  return send_verdict (self, SBX_FRAME_SCANNED, frame->head.id,
                       found ? SBX_FAILURE_KEY_REFLECTED : SBX_FAILURE_NONE);
}

static gboolean
take_reload (Peer *self, const SbxFrame *frame)
{
  g_autofree char *complaint = NULL;
  gboolean fine = sbx_grants_reload (self->grants, &complaint);

  return sbx_frame_link_send_packed (self->link, SBX_FRAME_RELOADED, frame->head.id,
                                     sbx_grant_reloaded_encode (fine, complaint), NULL);
}

/* --- all of them --- */

static gboolean
take_frame (Peer *self, const SbxFrame *frame)
{
  switch ((int) frame->head.type)
    {
    case SBX_FRAME_ANNOUNCE:
      return take_announce (self, frame);
    case SBX_FRAME_MODEL_CALL:
      return take_model_call (self, frame);
    case SBX_FRAME_MCP_CALL:
      return take_mcp_call (self, frame);
    case SBX_FRAME_CALL_CANCEL:
      sbx_turn_calls_cancel (self->calls, frame->head.id);
      return TRUE;
    case SBX_FRAME_SERVICE:
      return take_service (self);
    case SBX_FRAME_CHARGE:
      return take_charge (self, frame);
    case SBX_FRAME_SCAN:
      return take_scan (self, frame);
    case SBX_FRAME_RELOAD:
      return take_reload (self, frame);
    default:
      return FALSE;
    }
}

static gboolean
on_peer_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  Peer *self = user_data;

  /* take_service() may undo the state: it is set before. FALSE leads to on_peer_closed(). */
  return sbx_permit (&self->state, frame->head.type) && take_frame (self, frame);
}

static void
on_peer_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  Peer *self = user_data;
  const SbxGrant *grant = self->calls != NULL ? sbx_turn_calls_grant (self->calls) : NULL;

  if (error != NULL)
    sbx_log (LOG_WARNING,
             &(SbxLogFields){ .turn = grant != NULL ? grant->turn : NULL,
                              .channel = grant != NULL ? grant->channel : NULL },
             "A connection was ended: %s", error->message);
  peer_drop (self);
}

static const SbxFrameLinkEvents peer_events = { .frame = on_peer_frame, .closed = on_peer_closed };

void
sbx_grants_take (SbxGrants *self, int fd)
{
  Peer *peer;

  if (g_hash_table_size (self->peers) >= SBX_MAX_GRANTS + SBX_MAX_SERVICE_CONNECTIONS + 16)
    {
      sbx_log (LOG_WARNING, NULL, "A connection was refused: there are too many");
      sbx_fd_close (fd);
      return;
    }
  peer = g_new0 (Peer, 1);
  peer->grants = self;
  peer->timer = g_timeout_add_seconds (HELLO_SEC, on_peer_timer, peer);
  peer->link = sbx_frame_link_new (fd, sbx_grant_rules_egress, sbx_grant_n_rules_egress, &peer_events, peer);
  (void) g_hash_table_add (self->peers, peer);
}

gboolean
sbx_grants_reload (SbxGrants *self, char **ret_complaint)
{
  SbxEndpoints *endpoints = self->reload (ret_complaint, self->user_data);
  GHashTableIter iter;
  gpointer value;

  if (endpoints == NULL)
    return FALSE;
  sbx_endpoints_unref (self->endpoints);
  self->endpoints = endpoints;
  g_hash_table_iter_init (&iter, self->turns);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    sbx_turn_calls_set_current (((Peer *) value)->calls, endpoints);
  return TRUE;
}

SbxGrants *
sbx_grants_new (SbxUpstream *upstream, SbxEndpoints *endpoints, SbxGrantsReload reload, gpointer user_data)
{
  SbxGrants *self = g_new0 (SbxGrants, 1);

  self->upstream = upstream;
  self->endpoints = sbx_endpoints_ref (endpoints);
  self->reload = reload;
  self->user_data = user_data;
  self->peers = g_hash_table_new_full (NULL, NULL, peer_free, NULL);
  self->turns = g_hash_table_new (g_str_hash, g_str_equal);
  return self;
}

void
sbx_grants_free (SbxGrants *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->peers);
  g_hash_table_unref (self->turns);
  sbx_endpoints_unref (self->endpoints);
  g_free (self);
}

gboolean
sbx_grants_is_idle (SbxGrants *self)
{
  return g_hash_table_size (self->turns) == 0;
}
