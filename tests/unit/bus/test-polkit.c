/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/polkit.h"

#include <string.h>

#include "bus/bus-auto.h"
#include "bus/bus-source.h"
#include "test-bus.h"

#define ACTION   "org.roundtable.Sandbox1.run-turn"
#define OUR_PATH "/org/roundtable/Sandbox1"

/* How the peer plays polkit, and what comes of it. */
typedef struct {
  const char *name;
  gboolean authorized;
  gboolean challenge;
  const char *refusal;  /* error name */
  gboolean hold;        /* no answer */
  gboolean interactive; /* the caller's message allows it */
  gint code;            /* SbxPolkitError, -1: a verdict */
  SbxPolkitVerdict verdict;
  const char *reply; /* the name of the error that the caller gets; NULL: none */
} Play;

static const Play plays[] = {
  { .name = "yes", .authorized = TRUE, .code = -1, .verdict = SBX_POLKIT_YES },
  { .name = "no", .code = -1, .verdict = SBX_POLKIT_NO, .reply = "org.freedesktop.DBus.Error.AccessDenied" },
  { .name = "challenge",
    .challenge = TRUE,
    .code = -1,
    .verdict = SBX_POLKIT_CHALLENGE,
    .reply = "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired" },
  { .name = "interactive", .authorized = TRUE, .interactive = TRUE, .code = -1, .verdict = SBX_POLKIT_YES },
  { .name = "refused",
    .refusal = "org.freedesktop.PolicyKit1.Error.Failed",
    .code = SBX_POLKIT_ERROR_FAILED,
    .reply = "org.freedesktop.DBus.Error.AccessDenied" },
  { .name = "absent",
    .refusal = "org.freedesktop.DBus.Error.ServiceUnknown",
    .code = SBX_POLKIT_ERROR_ABSENT,
    .reply = "org.freedesktop.DBus.Error.AccessDenied" },
};

typedef struct {
  TestBus bus;
  sd_bus *service; /* the daemon's side, which asks polkit about the client */
  GSource *service_source;
  const Play *play;
  GAsyncResult *result;
  GCancellable *cancellable;
  sd_bus_message *asked;    /* the client's call, as the service got it */
  sd_bus_message *answered; /* what the client got */
  guint cancelled;          /* CancelCheckAuthorization calls */
  char *cancellation_id;
} Fixture;

static int
method_check (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;
  const char *kind = NULL;
  const char *key = NULL;
  const char *sender = NULL;
  const char *action = NULL;
  const char *detail = NULL;
  const char *value = NULL;
  const char *us = NULL;
  const char *id = NULL;
  guint32 flags = 0;

  g_assert_cmpint (sd_bus_message_read (message, "(sa{sv})s", &kind, 1, &key, "s", &sender, &action), >=, 0);
  g_assert_cmpint (sd_bus_message_read (message, "a{ss}", 1, &detail, &value), >=, 0);
  g_assert_cmpint (sd_bus_message_read (message, "us", &flags, &id), >=, 0);
  g_assert_cmpint (sd_bus_get_unique_name (f->bus.client, &us), >=, 0);
  g_assert_cmpstr (kind, ==, "system-bus-name");
  g_assert_cmpstr (key, ==, "name");
  g_assert_cmpstr (sender, ==, us);
  g_assert_cmpstr (action, ==, ACTION);
  g_assert_cmpstr (detail, ==, "channel");
  g_assert_cmpstr (value, ==, "c");
  g_assert_cmpuint (flags, ==, f->play->interactive ? 1 : 0);
  g_free (f->cancellation_id);
  f->cancellation_id = g_strdup (id);
  if (f->play->hold)
    return 1;
  if (f->play->refusal != NULL)
    return sd_bus_error_set (ret_error, f->play->refusal, "because");
  return sd_bus_reply_method_return (message, "(bba{ss})", (int) f->play->authorized,
                                     (int) f->play->challenge, 0);
}

static int
method_cancel (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;
  const char *id = NULL;

  g_assert_cmpint (sd_bus_message_read (message, "s", &id), >=, 0);
  g_assert_cmpstr (id, ==, f->cancellation_id);
  f->cancelled++;
  return sd_bus_reply_method_return (message, NULL);
}

static int
method_run (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;
  static const char *const details[] = { "channel", "c", NULL };

  f->asked = sd_bus_message_ref (message);
  sbx_polkit_check_async (message, ACTION, details, f->cancellable, keep_result, &f->result);
  return 1;
}

static int
on_answered (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;

  f->answered = sd_bus_message_ref (message);
  return 0;
}

static const sd_bus_vtable polkit_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", method_check,
                 SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("CancelCheckAuthorization", "s", NULL, method_cancel, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

static const sd_bus_vtable our_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("Run", NULL, NULL, method_run, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

static void
set_up (Fixture *f, gconstpointer data)
{
  f->play = data;
  test_bus_set_up (&f->bus, "org.freedesktop.PolicyKit1");
  g_assert_cmpint (sd_bus_add_object_vtable (f->bus.peer, NULL, "/org/freedesktop/PolicyKit1/Authority",
                                             "org.freedesktop.PolicyKit1.Authority", polkit_vtable, f),
                   >=, 0);
  f->service = test_bus_connect (&f->bus);
  g_assert_cmpint (
    sd_bus_add_object_vtable (f->service, NULL, OUR_PATH, "org.roundtable.Test", our_vtable, f), >=, 0);
  g_assert_cmpint (sd_bus_request_name (f->service, "org.roundtable.Test", 0), >=, 0);
  f->service_source = sbx_bus_source_new (f->service, NULL, NULL);
  g_source_attach (f->service_source, NULL);
  f->cancellable = g_cancellable_new ();
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_clear_object (&f->result);
  g_clear_object (&f->cancellable);
  g_clear_pointer (&f->asked, sd_bus_message_unref);
  g_clear_pointer (&f->answered, sd_bus_message_unref);
  g_source_destroy (f->service_source);
  g_source_unref (f->service_source);
  sd_bus_unref (f->service);
  test_bus_tear_down (&f->bus);
  g_free (f->cancellation_id);
}

static void
call_service (Fixture *f)
{
  g_autoptr (sd_bus_message) call = NULL;

  g_assert_cmpint (sd_bus_message_new_method_call (f->bus.client, &call, "org.roundtable.Test", OUR_PATH,
                                                   "org.roundtable.Test", "Run"),
                   >=, 0);
  g_assert_cmpint (sd_bus_message_set_allow_interactive_authorization (call, f->play->interactive), >=, 0);
  g_assert_cmpint (sd_bus_call_async (f->bus.client, NULL, call, on_answered, f, 0), >=, 0);
}

static void
test_play (Fixture *f, gconstpointer data)
{
  SbxPolkitVerdict verdict = SBX_POLKIT_NO;
  g_autoptr (GError) error = NULL;

  call_service (f);
  if (sbx_polkit_check_finish (await_result (&f->result), &verdict, &error))
    {
      g_assert_cmpint (f->play->code, ==, -1);
      g_assert_cmpint (verdict, ==, f->play->verdict);
    }
  else
    {
      g_assert_error (error, SBX_POLKIT_ERROR, f->play->code);
    }
  if (f->play->reply == NULL)
    g_assert_cmpint (sd_bus_reply_method_return (f->asked, NULL), >=, 0);
  else
    g_assert_cmpint (sbx_polkit_reply_refused (f->asked, verdict, error), >=, 0);
  while (f->answered == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (sd_bus_message_is_method_error (f->answered, f->play->reply), ==, f->play->reply != NULL);
}

static const Play held = { .name = "cancelled", .hold = TRUE, .interactive = TRUE };

/* polkit is told, so that no dialogue stays on somebody's screen. */
static void
test_cancelled (Fixture *f, gconstpointer data)
{
  SbxPolkitVerdict verdict = SBX_POLKIT_YES;
  g_autoptr (GError) error = NULL;

  call_service (f);
  while (f->cancellation_id == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_cancellable_cancel (f->cancellable);
  g_assert_false (sbx_polkit_check_finish (await_result (&f->result), &verdict, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (verdict, ==, SBX_POLKIT_YES); /* untouched */
  while (f->cancelled == 0)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_not_there (Fixture *f, gconstpointer data)
{
  SbxPolkitVerdict verdict = SBX_POLKIT_NO;
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (sd_bus_release_name (f->bus.peer, "org.freedesktop.PolicyKit1"), >=, 0);
  call_service (f);
  g_assert_false (sbx_polkit_check_finish (await_result (&f->result), &verdict, &error));
  g_assert_error (error, SBX_POLKIT_ERROR, SBX_POLKIT_ERROR_ABSENT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (plays); i++)
    {
      g_autofree char *path = g_strconcat ("/bus/polkit/", plays[i].name, NULL);

      g_test_add (path, Fixture, &plays[i], set_up, test_play, tear_down);
    }
  g_test_add ("/bus/polkit/cancelled", Fixture, &held, set_up, test_cancelled, tear_down);
  g_test_add ("/bus/polkit/not-there", Fixture, &plays[0], set_up, test_not_there, tear_down);
  return g_test_run ();
}
