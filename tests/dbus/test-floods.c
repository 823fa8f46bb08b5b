/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Callers who ask much at once, or leave: what that may cost the others. Arguments: the daemon's program. */
#include "fixture.h"

static guint32
count_match_rules (Fixture *f)
{
  g_autoptr (sd_bus_message) call = NULL;
  g_autoptr (sd_bus_message) answer = NULL;
  const char *name = NULL;
  guint32 value = 0;

  g_assert_cmpint (sd_bus_message_new_method_call (f->bus.client, &call, "org.freedesktop.DBus",
                                                   "/org/freedesktop/DBus",
                                                   "org.freedesktop.DBus.Debug.Stats", "GetStats"),
                   >=, 0);
  answer = fixture_send (f->bus.client, call);
  g_assert_cmpint (sd_bus_message_enter_container (answer, 'a', "{sv}"), >=, 0);
  while (sd_bus_message_read (answer, "{sv}", &name, "u", &value) > 0)
    if (g_str_equal (name, "MatchRules"))
      return value;
  g_assert_not_reached ();
}

/* Sends n calls as one more caller, and reads no answers. */
static void
send_calls (sd_bus *caller, guint n, gboolean interactive)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (sd_bus_message) call = NULL;

      g_assert_cmpint (sd_bus_message_new_method_call (caller, &call, SBX_BUS_NAME, SBX_OBJECT_PATH,
                                                       SBX_MANAGER_INTERFACE, "RunTurn"),
                       >=, 0);
      g_assert_cmpint (sd_bus_message_set_allow_interactive_authorization (call, interactive), >=, 0);
      g_assert_cmpint (sd_bus_message_append (call, "ssssa{sv}", "discord:1", "s", "n", "hello", 0), >=, 0);
      g_assert_cmpint (sd_bus_send (caller, call, NULL), >=, 0);
    }
  g_assert_cmpint (sd_bus_flush (caller), >=, 0);
}

/* Whoever has an agent of their own lets polkit wait for its dialogues: those are few, and the others go on.
 * A bus has 128 open calls for us by default, and starting a turn takes some too. */
static void
test_dialogues_are_few (Fixture *f, gconstpointer data)
{
  sd_bus *callers[8];

  f->polkit = POLKIT_SILENT;
  for (gsize i = 0; i < G_N_ELEMENTS (callers); i++)
    {
      callers[i] = test_bus_connect (&f->bus);
      send_calls (callers[i], 30, TRUE);
    }
  /* Half of all that there may be, since these are one user's. */
  while (f->asked->len < 8)
    g_main_context_iteration (NULL, TRUE);
  f->polkit = POLKIT_YES;
  fixture_expect_mode (f, "discord:1", "off");
  g_assert_cmpuint (f->asked->len, ==, 9);
  for (gsize i = 0; i < G_N_ELEMENTS (callers); i++)
    sd_bus_flush_close_unref (callers[i]);
  while (f->cancelled < 8)
    g_main_context_iteration (NULL, TRUE);
}

/* However many connections a user has, others find room. */
static void
test_users_are_bounded (Fixture *f, gconstpointer data)
{
  sd_bus *callers[6];

  f->polkit = POLKIT_SILENT;
  for (gsize i = 0; i < G_N_ELEMENTS (callers); i++)
    {
      callers[i] = test_bus_connect (&f->bus);
      send_calls (callers[i], 30, FALSE);
    }
  while (f->asked->len < 48)
    g_main_context_iteration (NULL, TRUE);
  /* What has been sent before is judged when this is. */
  CALL (f, "GetChannelMode", TEXTS ("discord:1"), ERROR ("TooBusy"));
  g_assert_cmpuint (f->asked->len, ==, 48);
  for (gsize i = 0; i < G_N_ELEMENTS (callers); i++)
    sd_bus_flush_close_unref (callers[i]);
  while (f->cancelled < 48)
    g_main_context_iteration (NULL, TRUE);
  f->polkit = POLKIT_YES;
  fixture_expect_mode (f, "discord:1", "off");
}

/* Calls that wait for their verdict take none of the bus's match rules, of which it has few for each
 * connection and ends one that wants more; and whoever leaves is forgotten at once. */
static void
test_callers_who_leave (Fixture *f, gconstpointer data)
{
  sd_bus *caller = test_bus_connect (&f->bus);
  guint32 rules = count_match_rules (f);

  f->polkit = POLKIT_SILENT;
  send_calls (caller, 20, FALSE);
  while (f->asked->len < 20)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (count_match_rules (f), ==, rules);
  sd_bus_flush_close_unref (caller);
  while (f->cancelled < 20)
    g_main_context_iteration (NULL, TRUE);
  f->polkit = POLKIT_YES;
}

#define ADD(name, function)                                                                                  \
  g_test_add ("/floods/" name, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >=, 2);
  daemon_program = argv[1];
  ADD ("callers-who-leave", test_callers_who_leave);
  ADD ("dialogues-are-few", test_dialogues_are_few);
  ADD ("users-are-bounded", test_users_are_bounded);
  return g_test_run ();
}
