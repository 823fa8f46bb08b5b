/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The session against a broker's end of the socket that the test plays itself. */
#include "turn/broker-session.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "fake-egress.h"
#include "wire/frame-link.h"

typedef struct {
  FakeEgress *egress;
  SbxEgressClient *client;
  GPtrArray *tools;
  SbxBrokerSession *session;
  SbxFrameLink *broker;
  /* what the broker saw */
  guint n_config, n_start_fds, n_results, n_cancelled;
  SbxFailure result;
  guint32 result_id;
  /* what the owner was told */
  guint n_ready, n_replied, n_no_reply, n_audit, n_closed;
  gboolean broker_closed;
} Fixture;

static gboolean
on_broker_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  Fixture *self = user_data;
  g_autoptr (GBytes) text = NULL;

  switch ((guint) frame->head.type)
    {
    case SBX_FRAME_CONFIG:
      self->n_config++;
      break;
    case SBX_FRAME_START:
      self->n_start_fds += frame->n_fds;
      break;
    default:
      self->n_results++;
      self->result_id = frame->head.id;
      g_assert_true (sbx_control_tool_result_decode (frame->payload, &self->result, &text, NULL));
      self->n_cancelled += self->result == SBX_FAILURE_CANCELLED ? 1 : 0;
      break;
    }
  return TRUE;
}

static void
on_broker_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  ((Fixture *) user_data)->broker_closed = TRUE;
}

static const SbxFrameLinkEvents broker_events = { on_broker_frame, on_broker_closed };

static void
on_ready (SbxBrokerSession *session, gpointer user_data)
{
  ((Fixture *) user_data)->n_ready++;
}

static void
on_replied (SbxBrokerSession *session, SbxControlReply *reply, gpointer user_data)
{
  ((Fixture *) user_data)->n_replied++;
}

static void
on_no_reply (SbxBrokerSession *session, SbxFailure failure, gpointer user_data)
{
  ((Fixture *) user_data)->n_no_reply++;
}

static void
on_audit (SbxBrokerSession *session, const SbxControlAudit *entry, gpointer user_data)
{
  ((Fixture *) user_data)->n_audit++;
}

static void
on_closed (SbxBrokerSession *session, const GError *error, gpointer user_data)
{
  ((Fixture *) user_data)->n_closed++;
}

static const SbxBrokerSessionEvents session_events = { on_ready, on_replied, on_no_reply, on_audit,
                                                       on_closed };

static const SbxToolIdentity identity = {
  .turn = "t1", .channel = "a:1", .speaker_id = "7", .speaker_name = "Ada", .principal = NULL
};

static void
wait_for (const guint *count, guint wanted)
{
  while (*count < wanted)
    g_main_context_iteration (NULL, TRUE);
}

static void
set_up (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxControlConfig) config = sbx_control_config_new ();
  const char *const offered[] = { "gone", NULL };
  int pair[2];

  self->egress = fake_egress_new ();
  self->client = sbx_egress_client_new (fake_egress_path (self->egress));
  self->tools = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_tool_target_unref);
  g_ptr_array_add (self->tools, sbx_tool_target_new_socket ("gone", "/nonexistent"));
  g_ptr_array_add (self->tools, sbx_tool_target_new_socket ("hidden", "/nonexistent"));
  ((SbxToolTarget *) self->tools->pdata[0])->max_calls = 2;
  g_assert_no_errno (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  self->broker =
    sbx_frame_link_new (pair[1], sbx_control_rules_broker, sbx_control_n_rules_broker, &broker_events, self);
  self->session = sbx_broker_session_new (pair[0], self->tools, self->client, &session_events, self);
  g_strfreev (config->tools);
  config->tools = g_strdupv ((char **) offered);
  sbx_control_config_add_server (config, "docs", offered);
  g_assert_true (sbx_broker_session_configure (self->session, config, NULL));
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sbx_broker_session_free (self->session);
  sbx_frame_link_free (self->broker);
  sbx_egress_client_free (self->client);
  fake_egress_free (self->egress);
  g_ptr_array_unref (self->tools);
}

static void
say (Fixture *self, SbxFrameType type, guint32 id, GByteArray *payload)
{
  g_assert_true (payload != NULL ? sbx_frame_link_send_packed (self->broker, type, id, payload, NULL)
                                 : sbx_frame_link_send (self->broker, type, id, NULL, NULL, 0, NULL));
}

static void
say_reply (Fixture *self)
{
  const SbxControlReply reply = { .ok = TRUE, .text = (char *) "hi" };

  say (self, SBX_FRAME_REPLY, 0, sbx_control_reply_encode (&reply));
}

static void
say_call (Fixture *self, guint32 id, const char *name)
{
  g_autoptr (GBytes) input = g_bytes_new_static ("{}", 2);

  say (self, SBX_FRAME_TOOL_CALL, id, sbx_control_tool_call_encode (name, input));
}

static void
begin (Fixture *self)
{
  int pair[2];
  g_auto (SbxFd) a = -1;
  g_auto (SbxFd) b = -1;

  say (self, SBX_FRAME_READY, 0, NULL);
  wait_for (&self->n_ready, 1);
  g_assert_no_errno (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  a = pair[0];
  b = pair[1];
  g_assert_true (sbx_broker_session_start (self->session, &identity, 1000, a, b, NULL));
  wait_for (&self->n_start_fds, 2);
}

static void
say_audit (Fixture *self, SbxRoute route, const char *name)
{
  SbxControlAudit entry = { .route = route, .status = 200 };

  g_strlcpy (entry.name, name, sizeof entry.name);
  say (self, SBX_FRAME_AUDIT, 0, sbx_control_audit_encode (&entry));
}

static void
test_plain (Fixture *self, gconstpointer data)
{
  const SbxControlAudit entry = { .route = SBX_ROUTE_MODEL, .status = 200 };

  begin (self);
  say (self, SBX_FRAME_AUDIT, 0, sbx_control_audit_encode (&entry));
  say_audit (self, SBX_ROUTE_TOOL, "gone");
  say_audit (self, SBX_ROUTE_MCP, "docs");
  say_audit (self, SBX_ROUTE_NONE, "");
  say_reply (self);
  wait_for (&self->n_replied, 1);
  g_assert_cmpuint (self->n_audit, ==, 4);
  g_assert_cmpuint (self->n_closed, ==, 0);
}

/* Charged before, tried, and told; the per-turn cap counts without asking anybody. */
static void
test_tool_calls (Fixture *self, gconstpointer data)
{
  begin (self);
  say_call (self, 5, "gone");
  wait_for (&self->n_results, 1);
  g_assert_cmpint (self->result, ==, SBX_FAILURE_TOOL_FAILED);
  g_assert_cmpuint (self->result_id, ==, 5);
  g_assert_cmpuint (fake_egress_n_charged (self->egress), ==, 1);
  fake_egress_answer_charge (self->egress, SBX_FAILURE_BUDGET_SPENT);
  say_call (self, 6, "gone");
  wait_for (&self->n_results, 2);
  g_assert_cmpint (self->result, ==, SBX_FAILURE_BUDGET_SPENT);
  say_call (self, 7, "gone");
  wait_for (&self->n_results, 3);
  g_assert_cmpint (self->result, ==, SBX_FAILURE_BUDGET_SPENT);
  g_assert_cmpuint (fake_egress_n_charged (self->egress), ==, 2);
}

/* A call that is under way when the turn ends ends with it. */
static void
test_call_behind_reply (Fixture *self, gconstpointer data)
{
  begin (self);
  say_call (self, 5, "gone");
  say_reply (self);
  say_call (self, 6, "gone");
  wait_for (&self->n_results, 2);
  g_assert_cmpuint (self->n_replied, ==, 1);
  g_assert_cmpint (self->result, ==, SBX_FAILURE_CANCELLED);
  g_assert_cmpuint (self->n_cancelled, ==, 2);
  g_assert_cmpuint (self->n_closed, ==, 0);
}

static void
test_egress_down (Fixture *self, gconstpointer data)
{
  begin (self);
  fake_egress_answer_charge (self->egress, SBX_FAILURE_INTERNAL);
  say_call (self, 5, "gone");
  wait_for (&self->n_results, 1);
  g_assert_cmpint (self->result, ==, SBX_FAILURE_EGRESS_DOWN);
}

typedef enum {
  EARLY_REPLY,
  EARLY_CALL,
  EARLY_AUDIT,
  SECOND_READY,
  SECOND_REPLY,
  UNLISTED_TOOL,
  HIDDEN_TOOL,
  FOREIGN_FAILURE,
  AUDIT_OF_UNLISTED,
  AUDIT_WITHOUT_ROUTE,
  AUDIT_FLOOD,
  FRAME_FLOOD,
  CALL_BESIDE_CALL
} Offence;

static const struct {
  const char *name;
  Offence offence;
} offences[] = {
  { "early-reply", EARLY_REPLY },
  { "early-call", EARLY_CALL },
  { "early-audit", EARLY_AUDIT },
  { "second-ready", SECOND_READY },
  { "second-reply", SECOND_REPLY },
  { "unlisted-tool", UNLISTED_TOOL },
  { "hidden-tool", HIDDEN_TOOL },
  { "foreign-failure", FOREIGN_FAILURE },
  { "audit-of-unlisted", AUDIT_OF_UNLISTED },
  { "audit-flood", AUDIT_FLOOD },
  { "audit-without-route", AUDIT_WITHOUT_ROUTE },
  { "frame-flood", FRAME_FLOOD },
  { "call-beside-call", CALL_BESIDE_CALL },
};

/* More than any turn has, until the session has enough of it. */
static void
flood (Fixture *self, SbxFrameType type)
{
  for (guint i = 0; i < 10000 && self->n_closed == 0; i++)
    {
      if (type == SBX_FRAME_AUDIT)
        say_audit (self, SBX_ROUTE_MODEL, "");
      else
        say (self, type, i, NULL);
      while (g_main_context_iteration (NULL, FALSE))
        continue;
    }
  g_assert_cmpuint (self->n_closed, ==, 1);
  g_assert_cmpuint (self->n_audit, <=, SBX_CONTROL_MAX_AUDITS);
}

/* What a broker in foreign hands might try: the session ends, and the owner is told once. */
static void
test_offence (Fixture *self, gconstpointer data)
{
  Offence offence = (Offence) GPOINTER_TO_INT (data);

  if (offence > EARLY_AUDIT)
    begin (self);
  switch (offence)
    {
    case EARLY_REPLY:
      say_reply (self);
      break;
    case SECOND_READY:
      say (self, SBX_FRAME_READY, 0, NULL);
      break;
    case SECOND_REPLY:
      say_reply (self);
      say_reply (self);
      break;
    case UNLISTED_TOOL:
      say_call (self, 1, "nobody");
      break;
    case HIDDEN_TOOL:
      say_call (self, 1, "hidden");
      break;
    case EARLY_CALL:
      say_call (self, 1, "gone");
      break;
    case EARLY_AUDIT:
      say_audit (self, SBX_ROUTE_NONE, "");
      break;
    case FOREIGN_FAILURE:
      say (self, SBX_FRAME_NO_REPLY, 0, sbx_control_no_reply_encode (SBX_FAILURE_MODE_OFF));
      break;
    case AUDIT_OF_UNLISTED:
      say_audit (self, SBX_ROUTE_TOOL, "a guest's own words");
      break;
    case AUDIT_WITHOUT_ROUTE:
      say_audit (self, SBX_ROUTE_MODEL, "gone");
      break;
    case AUDIT_FLOOD:
      flood (self, SBX_FRAME_AUDIT);
      break;
    case FRAME_FLOOD:
      flood (self, SBX_FRAME_TOOL_CANCEL);
      break;
    case CALL_BESIDE_CALL:
    default:
      say_call (self, 1, "gone");
      say_call (self, 2, "gone");
      break;
    }
  wait_for (&self->n_closed, 1);
  g_assert_cmpuint (self->n_closed, ==, 1);
  g_assert_cmpuint (self->n_replied, ==, offence == SECOND_REPLY ? 1 : 0);
  g_assert_cmpuint (self->n_no_reply, ==, 0);
  g_assert_cmpuint (self->n_audit, ==, offence == AUDIT_FLOOD ? SBX_CONTROL_MAX_AUDITS : 0);
}

static void
test_freed_during_a_call (Fixture *self, gconstpointer data)
{
  begin (self);
  say_call (self, 1, "gone");
  while (fake_egress_n_charged (self->egress) == 0)
    g_main_context_iteration (NULL, TRUE);
  g_clear_pointer (&self->session, sbx_broker_session_free);
  while (!self->broker_closed)
    g_main_context_iteration (NULL, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add ("/turn/broker-session/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("plain", test_plain);
  ADD ("tool-calls", test_tool_calls);
  ADD ("call-behind-reply", test_call_behind_reply);
  ADD ("egress-down", test_egress_down);
  ADD ("freed-during-a-call", test_freed_during_a_call);
  for (gsize i = 0; i < G_N_ELEMENTS (offences); i++)
    {
      g_autofree char *name = g_strconcat ("/turn/broker-session/offence/", offences[i].name, NULL);

      g_test_add (name, Fixture, GINT_TO_POINTER (offences[i].offence), set_up, test_offence, tear_down);
    }
  return g_test_run ();
}
