/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Bus providers on a private bus: what they are told, and what becomes of what they do. */
#include <string.h>

#include "../bus/test-bus.h"
#include "turn/tool-call.h"

#define NAME      "org.example.Bot"
#define PATH      "/org/example/Bot"
#define INTERFACE "org.example.Bot"

typedef enum {
  PROVIDER_ANSWERS,
  PROVIDER_FAILS,
  PROVIDER_OTHER_TYPE,
  PROVIDER_HANGS,
  PROVIDER_DIES,
} ProviderKind;

typedef struct {
  const char *name;
  ProviderKind kind;
  const char *text; /* NULL: n_bytes of fill */
  gsize n_bytes;
  SbxFailure failure;
} Case;

static const Case cases[] = {
  { "answers", PROVIDER_ANSWERS, "Grüße", 0, SBX_FAILURE_NONE },
  { "empty", PROVIDER_ANSWERS, "", 0, SBX_FAILURE_TOOL_BUSY },
  { "largest", PROVIDER_ANSWERS, NULL, SBX_MAX_ANSWER_BYTES, SBX_FAILURE_NONE },
  { "floods", PROVIDER_ANSWERS, NULL, SBX_MAX_ANSWER_BYTES + 1, SBX_FAILURE_TOOL_FAILED },
  { "fails", PROVIDER_FAILS, "", 0, SBX_FAILURE_TOOL_FAILED },
  { "other-type", PROVIDER_OTHER_TYPE, "", 0, SBX_FAILURE_TOOL_FAILED },
  { "dies", PROVIDER_DIES, "", 0, SBX_FAILURE_TOOL_FAILED },
  { "never-answers", PROVIDER_HANGS, "", 0, SBX_FAILURE_TOOL_TIMEOUT },
};

typedef struct {
  TestBus bus;
  const Case *one;
  SbxToolTarget *target;
  sd_bus_message *held;
  guint n_calls;
  char *told; /* what the provider was given, joined by "|" */
  GAsyncResult *result;
} Fixture;

static const SbxToolIdentity ada = {
  .turn = "t1", .channel = "a:1", .speaker_id = "7", .speaker_name = "Ada", .principal = NULL
};

static int
on_ask (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *self = user_data;
  const char *turn, *channel, *id, *name, *principal;
  const void *input = NULL;
  size_t n_bytes = 0;
  g_autofree char *text = NULL;

  self->n_calls++;
  g_assert_cmpint (sd_bus_message_read (message, "sssss", &turn, &channel, &id, &name, &principal), >=, 0);
  g_assert_cmpint (sd_bus_message_read_array (message, 'y', &input, &n_bytes), >=, 0);
  self->told = g_strdup_printf ("%s|%s|%s|%s|%s|%.*s", turn, channel, id, name, principal, (int) n_bytes,
                                (const char *) input);
  switch (self->one->kind)
    {
    case PROVIDER_FAILS:
      return sd_bus_reply_method_errorf (message, "org.example.Bot.Error", "no");
    case PROVIDER_OTHER_TYPE:
      return sd_bus_reply_method_return (message, "u", 7u);
    case PROVIDER_HANGS:
      self->held = sd_bus_message_ref (message);
      return 1;
    case PROVIDER_DIES:
      sd_bus_close (self->bus.peer);
      return 1;
    case PROVIDER_ANSWERS:
    default:
      text = self->one->text != NULL ? g_strdup (self->one->text) : g_strnfill (self->one->n_bytes, 'x');
      return sd_bus_reply_method_return (message, "s", text);
    }
}

static const sd_bus_vtable provider[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("Ask", "sssssay", "s", on_ask, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

static void
set_up (Fixture *self, gconstpointer data)
{
  static const Case hangs = { "", PROVIDER_HANGS, "", 0, SBX_FAILURE_NONE };

  self->one = data != NULL ? data : &hangs;
  test_bus_set_up (&self->bus, NAME);
  g_assert_cmpint (sd_bus_add_object_vtable (self->bus.peer, NULL, PATH, INTERFACE, provider, self), >=, 0);
  self->target = sbx_tool_target_new_bus ("bot", NAME, PATH, INTERFACE, "Ask");
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  g_clear_object (&self->result);
  self->held = sd_bus_message_unref (self->held);
  test_bus_tear_down (&self->bus);
  sbx_tool_target_unref (self->target);
  g_free (self->told);
}

static SbxFailure
ask (Fixture *self, GCancellable *cancellable, GBytes **ret_text)
{
  g_autoptr (GBytes) input = g_bytes_new_static ("{\"a\":1}", 7);

  g_clear_object (&self->result);
  sbx_tool_call_async (self->target, self->bus.client, &ada, input, cancellable, keep_result, &self->result);
  (void) await_result (&self->result);
  g_assert_cmpuint (self->target->running, ==, 0);
  return sbx_tool_call_finish (self->result, ret_text);
}

static void
test_answer (Fixture *self, gconstpointer data)
{
  const Case *one = data;
  g_autoptr (GBytes) text = NULL;

  if (one->kind == PROVIDER_HANGS)
    self->target->deadline_msec = 100;
  g_assert_cmpstr (sbx_failure_name (ask (self, NULL, &text)), ==, sbx_failure_name (one->failure));
  g_assert_cmpstr (self->told, ==, "t1|a:1|7|Ada||{\"a\":1}");
  if (one->failure == SBX_FAILURE_NONE)
    g_assert_cmpuint (g_bytes_get_size (text), ==, one->text != NULL ? strlen (one->text) : one->n_bytes);
}

static void
test_nobody_there (Fixture *self, gconstpointer data)
{
  g_assert_cmpint (sd_bus_release_name (self->bus.peer, NAME), >=, 0);
  g_assert_cmpint (ask (self, NULL, NULL), ==, SBX_FAILURE_TOOL_FAILED);
  g_assert_cmpuint (self->n_calls, ==, 0);
}

static gboolean
on_poll (gpointer user_data)
{
  return G_SOURCE_CONTINUE; /* only to wake the loop */
}

/* The caller has its answer at once; what the provider says later is nobody's. */
static void
test_cancel (Fixture *self, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GBytes) input = g_bytes_new_static ("{}", 2);
  guint tick = g_timeout_add (10, on_poll, NULL);

  sbx_tool_call_async (self->target, self->bus.client, &ada, input, cancellable, keep_result, &self->result);
  while (self->held == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_cancellable_cancel (cancellable);
  (void) await_result (&self->result);
  g_assert_cmpint (sbx_tool_call_finish (self->result, NULL), ==, SBX_FAILURE_CANCELLED);
  g_assert_cmpuint (self->target->running, ==, 0);
  g_assert_cmpint (sd_bus_reply_method_return (self->held, "s", "late"), >=, 0);
  g_assert_cmpint (sd_bus_flush (self->bus.peer), >=, 0);
  g_assert_cmpint (sd_bus_call_method (self->bus.client, "org.freedesktop.DBus", "/",
                                       "org.freedesktop.DBus.Peer", "Ping", NULL, NULL, NULL),
                   >=, 0);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_source_remove (tick);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat ("/turn/bus-tool/answer/", cases[i].name, NULL);

      g_test_add (name, Fixture, &cases[i], set_up, test_answer, tear_down);
    }
  g_test_add ("/turn/bus-tool/nobody-there", Fixture, NULL, set_up, test_nobody_there, tear_down);
  g_test_add ("/turn/bus-tool/cancel", Fixture, NULL, set_up, test_cancel, tear_down);
  return g_test_run ();
}
