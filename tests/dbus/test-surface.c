/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* StartTurn, Turn.Wait, Deliver and their kin on a bus, with a Docker that is not there: every turn fails,
 * and how callers hear of it is what is tested. */
#include <string.h>

#include "fixture.h"
#include "sbx-config.h"

/* A message for Deliver: name=text, or name alone for a true boolean; NULL-terminated. */
static sd_bus_message *
deliver (Fixture *f, const char *const *keys, const char *error)
{
  g_autoptr (sd_bus_message) call = fixture_new_call (f, SBX_MANAGER_INTERFACE, "Deliver");
  sd_bus_message *answer = NULL;
  const sd_bus_error *got = NULL;

  g_assert_cmpint (sd_bus_message_open_container (call, 'a', "{sv}"), >=, 0);
  for (gsize i = 0; keys[i] != NULL; i++)
    {
      g_auto (GStrv) pair = g_strsplit (keys[i], "=", 2);

      if (pair[1] != NULL)
        g_assert_cmpint (sd_bus_message_append (call, "{sv}", pair[0], "s", pair[1]), >=, 0);
      else
        g_assert_cmpint (sd_bus_message_append (call, "{sv}", pair[0], "b", 1), >=, 0);
    }
  g_assert_cmpint (sd_bus_message_close_container (call), >=, 0);
  answer = fixture_send (f->bus.client, call);
  got = sd_bus_message_get_error (answer);
  g_assert_cmpstr (got != NULL ? got->name : NULL, ==, error);
  return answer;
}

/* The text of a member of an a{sv}; NULL where it is not there. The message is read from its beginning. */
static char *
member (sd_bus_message *message, const char *skip, const char *name)
{
  char *found = NULL;
  const char *key;

  g_assert_cmpint (sd_bus_message_rewind (message, 1), >=, 0);
  if (*skip != '\0')
    g_assert_cmpint (sd_bus_message_skip (message, skip), >=, 0);
  g_assert_cmpint (sd_bus_message_enter_container (message, 'a', "{sv}"), >=, 0);
  while (sd_bus_message_enter_container (message, 'e', "sv") > 0)
    {
      const char *value = NULL;

      g_assert_cmpint (sd_bus_message_read (message, "s", &key), >=, 0);
      if (strcmp (key, name) == 0 && sd_bus_message_read (message, "v", "s", &value) >= 0)
        found = g_strdup (value);
      else
        g_assert_cmpint (sd_bus_message_skip (message, "v"), >=, 0);
      g_assert_cmpint (sd_bus_message_exit_container (message), >=, 0);
    }
  return found;
}

/* Enters the member of an a{sv} that an answer is. FALSE where it is not there. */
static gboolean
enter_member (sd_bus_message *answer, const char *name)
{
  const char *key;

  g_assert_cmpint (sd_bus_message_rewind (answer, 1), >=, 0);
  g_assert_cmpint (sd_bus_message_enter_container (answer, 'a', "{sv}"), >=, 0);
  while (sd_bus_message_enter_container (answer, 'e', "sv") > 0)
    {
      g_assert_cmpint (sd_bus_message_read (answer, "s", &key), >=, 0);
      if (strcmp (key, name) == 0)
        return TRUE;
      g_assert_cmpint (sd_bus_message_skip (answer, "v"), >=, 0);
      g_assert_cmpint (sd_bus_message_exit_container (answer), >=, 0);
    }
  return FALSE;
}

/* -1: it is not there. */
static gint64
number (sd_bus_message *answer, const char *name)
{
  guint64 value = 0;

  if (!enter_member (answer, name))
    return -1;
  g_assert_cmpint (sd_bus_message_read (answer, "v", "t", &value), >, 0);
  return (gint64) value;
}

/* An a{st} as "name=number …". */
static char *
numbers (sd_bus_message *answer, const char *name)
{
  GString *text = g_string_new (NULL);
  const char *key;
  guint64 value;

  g_assert_true (enter_member (answer, name));
  g_assert_cmpint (sd_bus_message_enter_container (answer, 'v', "a{st}"), >, 0);
  g_assert_cmpint (sd_bus_message_enter_container (answer, 'a', "{st}"), >=, 0);
  while (sd_bus_message_read (answer, "{st}", &key, &value) > 0)
    g_string_append_printf (text, "%s%s=%" G_GUINT64_FORMAT, text->len > 0 ? " " : "", key, value);
  return g_string_free (text, FALSE);
}

static void
expect_member (sd_bus_message *message, const char *skip, const char *name, const char *wanted)
{
  g_autofree char *got = member (message, skip, name);

  g_assert_cmpstr (got, ==, wanted);
}

static void
expect_verdict (Fixture *f, const char *const *keys, const char *verdict, const char *reason)
{
  g_autoptr (sd_bus_message) answer = deliver (f, keys, NULL);
  const char *got = NULL;

  g_assert_cmpint (sd_bus_message_read (answer, "s", &got), >=, 0);
  g_assert_cmpstr (got, ==, verdict);
  expect_member (answer, "s", "reason", reason);
}

static void
test_deliver (Fixture *f, gconstpointer data)
{
  static const char *const message[] = { "channel=discord:1",
                                         "speaker-id=speaker-7",
                                         "speaker-name=Sue",
                                         "text=hello",
                                         "mentioned",
                                         "quoted-text=old",
                                         "attachments",
                                         "owner",
                                         "wait",
                                         NULL };
  g_autofree char *words = g_strnfill (4 * 32000 + 1, 'x');
  g_autofree char *long_text = g_strconcat ("text=", words, NULL);
  g_autofree char *long_key = g_strconcat (words, "=x", NULL);
  guint n_asked;

  expect_verdict (f, message, "pass", NULL);
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  /* A turn, which fails for lack of Docker: the reason shows that it was one. */
  expect_verdict (f, message, "turn", "docker-down");
  expect_verdict (f, TEXTS ("channel=discord:1", "thread=discord:2", "mentioned"), "pass", NULL);
  expect_verdict (f, TEXTS ("channel=discord:1"), "drop", "not-addressed");
  expect_verdict (f, TEXTS ("channel=discord:1", "bot", "mentioned"), "drop", "bot");
  expect_verdict (f, TEXTS ("channel=discord:1", "kind=background"), "drop", "background");
  sd_bus_message_unref (deliver (f, TEXTS ("channel=discord:1", "colour=red"), ERROR ("InvalidOption")));
  sd_bus_message_unref (deliver (f, TEXTS ("text=hello"), ERROR ("InvalidOption")));
  sd_bus_message_unref (deliver (f, TEXTS ("channel=discord:1", "bot=yes"), ERROR ("InvalidOption")));
  sd_bus_message_unref (deliver (f, TEXTS ("channel=discord:1", "replace=yes"), ERROR ("InvalidOption")));
  sd_bus_message_unref (deliver (f, TEXTS ("channel=Discord"), ERROR ("InvalidChannel")));
  /* Nobody makes the service hold more than that while polkit is asked. */
  n_asked = f->asked->len;
  sd_bus_message_unref (deliver (f, TEXTS ("channel=discord:2", long_text), ERROR ("TextTooLong")));
  sd_bus_message_unref (deliver (f, TEXTS (long_key), ERROR ("InvalidOption")));
  CALL (f, "FindTurn", TEXTS ("discord:1", long_text), ERROR ("InvalidOption"));
  g_assert_cmpuint (f->asked->len, ==, n_asked);
}

static int
on_finished (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  char **outcome = user_data;

  g_assert_null (*outcome);
  *outcome = member (message, "", "outcome");
  return 0;
}

static int
on_foreign (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  if (sd_bus_message_is_signal (message, SBX_TURN_INTERFACE, "Finished") > 0)
    g_error ("another heard a turn's outcome");
  return 0;
}

static sd_bus_message *
wait_for (Fixture *f, const char *path, const char *error)
{
  g_autoptr (sd_bus_message) call = NULL;
  sd_bus_message *answer = NULL;
  const sd_bus_error *got = NULL;

  g_assert_cmpint (
    sd_bus_message_new_method_call (f->bus.client, &call, SBX_BUS_NAME, path, SBX_TURN_INTERFACE, "Wait"), >=,
    0);
  g_assert_cmpint (sd_bus_message_append (call, "a{sv}", 1, "chunk-size", "u", 64), >=, 0);
  answer = fixture_send (f->bus.client, call);
  got = sd_bus_message_get_error (answer);
  g_assert_cmpstr (got != NULL ? got->name : NULL, ==, error);
  return answer;
}

/* The outcome comes to the caller alone, once, and again to whoever asks for it afterwards. */
static void
test_start (Fixture *f, gconstpointer data)
{
  g_autoptr (sd_bus_slot) slot = NULL;
  g_autoptr (sd_bus_slot) foreign = NULL;
  g_autoptr (sd_bus_message) answer = NULL;
  g_autoptr (sd_bus_message) outcome = NULL;
  g_autofree char *heard = NULL;
  const char *path = NULL;

  g_assert_cmpint (sd_bus_match_signal (f->bus.client, &slot, SBX_BUS_NAME, NULL, SBX_TURN_INTERFACE,
                                        "Finished", on_finished, &heard),
                   >=, 0);
  g_assert_cmpint (
    sd_bus_match_signal (f->bus.peer, &foreign, SBX_BUS_NAME, NULL, NULL, NULL, on_foreign, NULL), >=, 0);
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  answer = fixture_call (f, "StartTurn", TEXTS ("discord:1", "s", "n", "hello"), NULL);
  g_assert_cmpint (sd_bus_message_read (answer, "o", &path), >=, 0);
  while (heard == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (heard, ==, "failed");
  outcome = wait_for (f, path, NULL);
  expect_member (outcome, "", "outcome", "failed");
  expect_member (outcome, "", "reason", "docker-down");
  expect_member (outcome, "", "mentions", "none");
  sd_bus_message_unref (
    wait_for (f, SBX_OBJECT_PATH "/turn/none", "org.freedesktop.DBus.Error.UnknownObject"));
}

static void
test_message_id (Fixture *f, gconstpointer data)
{
  const char *paths[2] = { NULL };
  sd_bus_message *answers[2] = { NULL };

  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  for (gsize i = 0; i < 2; i++)
    {
      g_autoptr (sd_bus_message) call = fixture_new_call (f, SBX_MANAGER_INTERFACE, "StartTurn");

      g_assert_cmpint (sd_bus_message_append (call, "ssssa{sv}", "discord:1", "s", "n", "hello", 2,
                                              "message-id", "s", "m1", "wait-in-queue", "b", 0),
                       >=, 0);
      answers[i] = fixture_send (f->bus.client, call);
      g_assert_cmpint (sd_bus_message_read (answers[i], "o", &paths[i]), >=, 0);
    }
  g_assert_cmpstr (paths[0], ==, paths[1]);
  {
    g_autoptr (sd_bus_message) found = fixture_call (f, "FindTurn", TEXTS ("discord:1", "m1"), NULL);
    const char *path = NULL;

    g_assert_cmpint (sd_bus_message_read (found, "o", &path), >=, 0);
    g_assert_cmpstr (path, ==, paths[0]);
  }
  CALL (f, "FindTurn", TEXTS ("discord:1", "m2"), ERROR ("NoSuchTurn"));
  sd_bus_message_unref (answers[0]);
  sd_bus_message_unref (answers[1]);
}

static void
test_channels (Fixture *f, gconstpointer data)
{
  g_autoptr (sd_bus_message) answer = NULL;
  const char *keys[3] = { NULL };

  CALL (f, "SetChannelMode", TEXTS ("discord:2", "on"), NULL);
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  CALL (f, "StartFresh", TEXTS ("discord:1"), NULL);
  answer = fixture_call (f, "ListChannels", NO_TEXTS, NULL);
  g_assert_cmpint (sd_bus_message_enter_container (answer, 'a', "s"), >=, 0);
  for (gsize i = 0; i < 3; i++)
    (void) sd_bus_message_read (answer, "s", &keys[i]);
  g_assert_cmpstr (keys[0], ==, "discord:1");
  g_assert_cmpstr (keys[1], ==, "discord:2");
  g_assert_null (keys[2]);
}

/* One turn that Docker's absence ended, and one that was not taken: seen over all, and in its own channel
 * alone. */
static void
test_statistics (Fixture *f, gconstpointer data)
{
  const char *const channels[] = { "", "discord:1", "discord:9" };

  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  CALL (f, "RunTurn", TEXTS ("discord:1", "s", "n", "hello"), ERROR ("DockerDown"));
  CALL (f, "RunTurn", TEXTS ("discord:2", "s", "n", "hello"), ERROR ("NotSandboxed"));
  for (gsize i = 0; i < G_N_ELEMENTS (channels); i++)
    {
      g_autoptr (sd_bus_message) answer = fixture_call (f, "GetStatistics", TEXTS (channels[i]), NULL);
      g_autofree char *outcomes = numbers (answer, "outcomes");
      g_autofree char *reasons = numbers (answer, "reasons");

      g_assert_cmpstr (outcomes, ==,
                       i == 2 ? "replied=0 failed=0 cancelled=0 deadline=0 refused=0"
                              : "replied=0 failed=1 cancelled=0 deadline=0 refused=0");
      g_assert_cmpstr (reasons, ==, i == 2 ? "" : "docker-down=1");
      g_assert_cmpint (number (answer, "not-taken"), ==, i == 0 ? 1 : -1);
      g_assert_cmpint (number (answer, "calls"), ==, 0);
    }
  CALL (f, "GetStatistics", TEXTS ("Discord"), ERROR ("InvalidChannel"));
}

static void
write_configuration (Fixture *f, const char *text)
{
  g_autofree char *file = g_build_filename (f->dir, "root" SBX_SYSCONFDIR, "sandboxd.conf", NULL);

  g_assert_true (g_file_set_contents (file, text, -1, NULL));
}

/* A bad configuration changes nothing; a good one counts at once. There is no egress here, and the answer
 * says so. */
static void
test_reload (Fixture *f, gconstpointer data)
{
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  write_configuration (f, "[Worker]\nUser=nobody\n[Turns]\nDeadline=never\n");
  CALL (f, "Reload", NO_TEXTS, ERROR ("ConfigRejected"));
  write_configuration (f, "[Worker]\nUser=nobody-of-this-name\n");
  CALL (f, "Reload", NO_TEXTS, ERROR ("ConfigRejected"));
  CALL (f, "RunTurn", TEXTS ("discord:1", "s", "n", "hello"), ERROR ("DockerDown"));
  write_configuration (f, "[Worker]\nUser=nobody\n[Turns]\nRequirePrincipal=yes\n");
  CALL (f, "Reload", NO_TEXTS, ERROR ("ConfigRejected"));
  CALL (f, "RunTurn", TEXTS ("discord:1", "s", "n", "hello"), ERROR ("InvalidPrincipal"));
}

/* Polkit's refusals, for each method that has an action. */
static void
test_refused (Fixture *f, gconstpointer data)
{
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  for (int answer = POLKIT_NO; answer <= POLKIT_CHALLENGE; answer++)
    {
      const char *error = answer == POLKIT_NO ? DENIED : INTERACTIVE;

      f->polkit = (PolkitAnswer) answer;
      CALL (f, "StartTurn", TEXTS ("discord:1", "s", "n", "hello"), error);
      CALL (f, "StartFresh", TEXTS ("discord:1"), error);
      CALL (f, "ListChannels", NO_TEXTS, error);
      CALL (f, "GetStatistics", TEXTS (""), error);
      CALL (f, "Reload", NO_TEXTS, error);
      sd_bus_message_unref (deliver (f, TEXTS ("channel=discord:1", "mentioned"), error));
    }
  g_assert_cmpuint (f->scopes, ==, 0);
}

#define ADD(name, function)                                                                                  \
  g_test_add ("/surface/" name, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >=, 2);
  daemon_program = argv[1];
  ADD ("deliver", test_deliver);
  ADD ("start", test_start);
  ADD ("message-id", test_message_id);
  ADD ("channels", test_channels);
  ADD ("statistics", test_statistics);
  ADD ("reload", test_reload);
  ADD ("refused", test_refused);
  return g_test_run ();
}
