/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The daemon's program on a bus: what callers see, and what polkit is asked. Arguments: the program and its
 * interface's XML. */
#include <string.h>

#include "fixture.h"

static const char *xml_file;

/* --- what is tested ------------------------------------------------------------------------------------- */

static void
test_modes (Fixture *f, gconstpointer data)
{
  fixture_expect_mode (f, "discord:1", "off");
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  fixture_expect_mode (f, "discord:1", "on");
  fixture_stop (f);
  fixture_start (f);
  fixture_expect_mode (f, "discord:1", "on");
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "off"), NULL);
  fixture_expect_mode (f, "discord:1", "off");
}

static void
test_arguments (Fixture *f, gconstpointer data)
{
  g_autofree char *long_text = g_strnfill (32001, 'x');
  g_autofree char *long_name = g_strnfill (257, 'x');
  guint n_asked;

  CALL (f, "SetChannelMode", TEXTS ("discord:1", "maybe"), ERROR ("InvalidMode"));
  CALL (f, "SetChannelMode", TEXTS ("", "on"), ERROR ("InvalidChannel"));
  CALL (f, "GetChannelMode", TEXTS ("Discord"), ERROR ("InvalidChannel"));
  CALL (f, "CancelTurn", TEXTS ("nope"), ERROR ("NoSuchTurn"));
  CALL (f, "RunTurn", TEXTS ("discord:1", "s", "n", "hello"), ERROR ("NotSandboxed"));
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  CALL (f, "RunTurn", TEXTS ("discord:1", "s", "n", long_text), ERROR ("TextTooLong"));
  CALL (f, "RunTurn", TEXTS ("discord:1", long_name, "n", "hello"), ERROR ("InvalidSpeaker"));
  g_assert_cmpuint (f->scopes, ==, 0);
  /* What can be no turn's id does not get as far as polkit. */
  n_asked = f->asked->len;
  CALL (f, "CancelTurn", TEXTS (long_text), ERROR ("NoSuchTurn"));
  g_assert_cmpuint (f->asked->len, ==, n_asked);
}

/* Neither a refusal nor a challenge that nobody may answer changes or starts anything. */
static void
test_refused (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *method;
    const char *texts[5];
  } calls[] = {
    { "SetChannelMode", { "discord:1", "off" } },
    { "GetChannelMode", { "discord:1" } },
    { "RunTurn", { "discord:1", "s", "n", "hello" } },
    { "CancelTurn", { "t" } },
    { "ListTurns", { NULL } },
    { "GetStatus", { NULL } },
  };

  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_test_message ("%s", calls[i].method);
      f->polkit = POLKIT_NO;
      CALL (f, calls[i].method, calls[i].texts, DENIED);
      f->polkit = POLKIT_CHALLENGE;
      CALL (f, calls[i].method, calls[i].texts, INTERACTIVE);
    }
  f->polkit = POLKIT_YES;
  fixture_expect_mode (f, "discord:1", "on");
  g_assert_cmpuint (f->scopes, ==, 0);
}

/* polkit says no where its own watch over its rules erred; a no that is meant is said twice. */
static void
test_no_is_asked_twice (Fixture *f, gconstpointer data)
{
  guint before;

  f->polkit = POLKIT_NO_ONCE;
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  g_assert_cmpuint (f->asked->len, ==, 2);
  before = f->asked->len;
  f->polkit = POLKIT_NO;
  CALL (f, "GetStatus", NO_TEXTS, DENIED);
  g_assert_cmpuint (f->asked->len, ==, before + 2);
}

/* Each method asks for its own action, with the channel where there is one, and never with what a guest said.
 */
static void
test_actions (Fixture *f, gconstpointer data)
{
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "off"), NULL);
  CALL (f, "GetChannelMode", TEXTS ("discord:1"), NULL);
  CALL (f, "RunTurn", TEXTS ("discord:1", "speaker-7", "Sue", "a secret"), ERROR ("NotSandboxed"));
  CALL (f, "CancelTurn", TEXTS ("t"), ERROR ("NoSuchTurn"));
  CALL (f, "ListTurns", NO_TEXTS, NULL);
  g_assert_true (fixture_was_asked (f, SBX_BUS_NAME ".set-channel-mode channel=discord:1"));
  g_assert_true (fixture_was_asked (f, SBX_BUS_NAME ".get-channel-mode"));
  g_assert_true (fixture_was_asked (f, SBX_BUS_NAME ".run-turn channel=discord:1"));
  g_assert_true (fixture_was_asked (f, SBX_BUS_NAME ".list-turns"));
  for (guint i = 0; i < f->asked->len; i++)
    {
      g_assert_null (strstr (g_ptr_array_index (f->asked, i), "secret"));
      /* Rules may look at who speaks; nobody else is told. */
      g_assert_cmpint (strstr (g_ptr_array_index (f->asked, i), "speaker=speaker-7") != NULL, ==,
                       strstr (g_ptr_array_index (f->asked, i), ".run-turn ") != NULL);
    }
}

/* Docker is not there: a named error, and nothing is left. */
static void
test_docker_down (Fixture *f, gconstpointer data)
{
  g_autofree char *run = g_build_filename (f->dir, "run", NULL);
  g_autoptr (GDir) left = NULL;
  g_autoptr (sd_bus_message) answer = NULL;

  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  CALL (f, "RunTurn", TEXTS ("discord:1", "s", "n", "hello"), ERROR ("DockerDown"));
  answer = fixture_call (f, "ListTurns", NO_TEXTS, NULL);
  g_assert_cmpint (sd_bus_message_enter_container (answer, 'a', "(sssutts)"), >=, 0);
  left = g_dir_open (run, 0, NULL);
  for (const char *name = g_dir_read_name (left); name != NULL; name = g_dir_read_name (left))
    g_assert_false (g_str_has_prefix (name, SBX_TURN_DIR_PREFIX));
}

static void
keep_text (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_assert_true (g_subprocess_communicate_utf8_finish (G_SUBPROCESS (source), result, NULL, user_data, NULL));
}

/* Two on one state directory would lose each other's writes. */
static void
test_second (Fixture *f, gconstpointer data)
{
  g_autoptr (GSubprocess) second = fixture_spawn (f, G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autofree char *text = NULL;

  g_assert_true (g_subprocess_communicate_utf8 (second, NULL, NULL, NULL, &text, NULL));
  g_assert_false (g_subprocess_get_successful (second));
  g_assert_cmpstr (text, !=, "");
  fixture_expect_mode (f, "discord:1", "off");
}

/* The name belongs to somebody else: it ends, and says what to look at. */
static void
test_name_is_taken (Fixture *f, gconstpointer data)
{
  g_autoptr (GSubprocess) daemon = NULL;
  g_autofree char *text = NULL;

  fixture_stop (f);
  g_assert_cmpint (sd_bus_request_name (f->bus.client, SBX_BUS_NAME, 0), >=, 0);
  daemon = fixture_spawn (f, G_SUBPROCESS_FLAGS_STDERR_PIPE);
  /* The fixture's peers answer meanwhile. */
  g_subprocess_communicate_utf8_async (daemon, NULL, NULL, keep_text, &text);
  while (text == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (g_subprocess_get_successful (daemon));
  g_assert_nonnull (strstr (text, "policy file dbus-1/system.d/org.roundtable.Sandbox1.conf"));
  g_assert_cmpint (sd_bus_release_name (f->bus.client, SBX_BUS_NAME), >=, 0);
  fixture_start (f);
}

/* --- the XML is the contract ---------------------------------------------------------------------------- */

static void
append_arguments (GString *line, GDBusArgInfo **arguments)
{
  for (gsize i = 0; arguments != NULL && arguments[i] != NULL; i++)
    g_string_append_printf (line, " %s:%s", arguments[i]->name, arguments[i]->signature);
}

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GDBusInterfaceInfo *
find_interface (GDBusNodeInfo *node, const char *name)
{
  GDBusInterfaceInfo *interface = g_dbus_node_info_lookup_interface (node, name);

  for (gsize i = 0; interface == NULL && node->nodes != NULL && node->nodes[i] != NULL; i++)
    interface = find_interface (node->nodes[i], name);
  return interface;
}

static void
describe_properties (GPtrArray *lines, GDBusPropertyInfo **properties)
{
  for (gsize i = 0; properties != NULL && properties[i] != NULL; i++)
    {
      const char *emits = g_dbus_annotation_info_lookup (properties[i]->annotations,
                                                         "org.freedesktop.DBus.Property.EmitsChangedSignal");

      g_ptr_array_add (lines, g_strdup_printf ("%s %s %u %s", properties[i]->name, properties[i]->signature,
                                               (guint) properties[i]->flags, emits != NULL ? emits : "true"));
    }
}

static char *
describe (const char *xml, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GDBusNodeInfo) node = g_dbus_node_info_new_for_xml (xml, &error);
  GDBusInterfaceInfo *interface = NULL;
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

  g_assert_no_error (error);
  interface = find_interface (node, name);
  g_assert_nonnull (interface);
  for (gsize i = 0; interface->methods != NULL && interface->methods[i] != NULL; i++)
    {
      GString *line = g_string_new (interface->methods[i]->name);

      append_arguments (line, interface->methods[i]->in_args);
      g_string_append (line, " ->");
      append_arguments (line, interface->methods[i]->out_args);
      g_ptr_array_add (lines, g_string_free (line, FALSE));
    }
  for (gsize i = 0; interface->signals != NULL && interface->signals[i] != NULL; i++)
    {
      GString *line = g_string_new (interface->signals[i]->name);

      append_arguments (line, interface->signals[i]->args);
      g_ptr_array_add (lines, g_string_free (line, FALSE));
    }
  describe_properties (lines, interface->properties);
  g_ptr_array_sort (lines, by_text);
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("\n", (char **) lines->pdata);
}

static char *
read_live (Fixture *f, const char *path)
{
  g_autoptr (sd_bus_message) message = NULL;
  g_autoptr (sd_bus_message) answer = NULL;
  const char *xml = NULL;

  g_assert_cmpint (sd_bus_message_new_method_call (f->bus.client, &message, SBX_BUS_NAME, path,
                                                   "org.freedesktop.DBus.Introspectable", "Introspect"),
                   >=, 0);
  answer = fixture_send (f->bus.client, message);
  g_assert_cmpint (sd_bus_message_read (answer, "s", &xml), >=, 0);
  return g_strdup (xml);
}

static void
expect_as_written (Fixture *f, const char *path, const char *interface)
{
  g_autofree char *written = NULL;
  g_autofree char *live = read_live (f, path);
  g_autofree char *got = describe (live, interface);
  g_autofree char *wanted = NULL;

  g_assert_true (g_file_get_contents (xml_file, &written, NULL, NULL));
  wanted = describe (written, interface);
  g_assert_cmpstr (got, ==, wanted);
}

/* --- objects -------------------------------------------------------------------------------------------- */

#define CHANNEL_PATH SBX_OBJECT_PATH "/channel/discord_3a1"

typedef struct {
  GString *lines;
} Heard;

/* All that it holds, as text: none of it may say who spoke, or what. */
static char *
dump (sd_bus_message *message)
{
  char *text = NULL;
  gsize n_bytes = 0;
  FILE *file = open_memstream (&text, &n_bytes);
  char *copy;

  g_assert_nonnull (file);
  g_assert_cmpint (sd_bus_message_rewind (message, 1), >=, 0);
  g_assert_cmpint (sd_bus_message_dump (message, file, 0), >=, 0);
  g_assert_cmpint (sd_bus_message_rewind (message, 1), >=, 0);
  g_assert_cmpint (fclose (file), ==, 0);
  copy = g_strdup (text);
  free (text);
  return copy;
}

static void
expect_no_guest (sd_bus_message *message)
{
  static const char *const words[] = { "speaker-7", "Sue", "a secret", "ada@example" };
  g_autofree char *text = dump (message);

  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (text, words[i]) != NULL)
      g_error ("\"%s\" is in a message to everybody: %s", words[i], text);
}

static int
on_heard (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Heard *heard = user_data;
  const char *path = NULL;

  expect_no_guest (message);
  g_string_append (heard->lines, sd_bus_message_get_member (message));
  if (sd_bus_message_is_signal (message, NULL, "PropertiesChanged") > 0)
    path = sd_bus_message_get_path (message);
  else
    g_assert_cmpint (sd_bus_message_read (message, "o", &path), >=, 0);
  g_string_append_printf (heard->lines, " %s\n", path);
  return 0;
}

static void
await_line (Heard *heard, const char *line)
{
  while (strstr (heard->lines->str, line) == NULL)
    g_main_context_iteration (NULL, TRUE);
}

/* Every property of every object, and the interfaces of a turn's. */
static void
expect_objects (Fixture *f, const char *turn)
{
  g_autoptr (sd_bus_message) call =
    fixture_new_call (f, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects");
  g_autoptr (sd_bus_message) answer = fixture_send (f->bus.client, call);
  g_autofree char *text = dump (answer);

  g_assert_null (sd_bus_message_get_error (answer));
  g_assert_nonnull (strstr (text, turn));
  g_assert_nonnull (strstr (text, CHANNEL_PATH));
  expect_no_guest (answer);
  expect_as_written (f, turn, SBX_TURN_INTERFACE);
}

/* A channel's object comes with its mode and goes with it, a turn's with the turn; each tells of itself, and
 * of nobody who spoke. */
static void
test_objects (Fixture *f, gconstpointer data)
{
  Heard heard = { g_string_new (NULL) };
  g_autoptr (sd_bus_slot) slot = NULL;
  g_auto (GStrv) words = NULL;
  const char *added;

  g_assert_cmpint (sd_bus_add_match (f->bus.client, &slot,
                                     "type='signal',sender='" SBX_BUS_NAME
                                     "',path_namespace='" SBX_OBJECT_PATH "'",
                                     on_heard, &heard),
                   >=, 0);
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  await_line (&heard, "InterfacesAdded " CHANNEL_PATH "\n");
  expect_as_written (f, CHANNEL_PATH, SBX_CHANNEL_INTERFACE);
  CALL (f, "RunTurn", TEXTS ("discord:1", "speaker-7", "Sue", "a secret"), ERROR ("DockerDown"));
  await_line (&heard, "PropertiesChanged " SBX_OBJECT_PATH "/turn/");
  await_line (&heard, "PropertiesChanged " CHANNEL_PATH "\n");
  added = strstr (heard.lines->str, "InterfacesAdded " SBX_OBJECT_PATH "/turn/");
  g_assert_nonnull (added);
  words = g_strsplit_set (added, " \n", 3);
  expect_objects (f, words[1]);
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "off"), NULL);
  await_line (&heard, "InterfacesRemoved " CHANNEL_PATH "\n");
  g_string_free (heard.lines, TRUE);
}

static void
test_introspection (Fixture *f, gconstpointer data)
{
  expect_as_written (f, SBX_OBJECT_PATH, SBX_MANAGER_INTERFACE);
}

#define ADD(name, function)                                                                                  \
  g_test_add ("/daemon/" name, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 3);
  daemon_program = argv[1];
  xml_file = argv[2];
  ADD ("modes", test_modes);
  ADD ("arguments", test_arguments);
  ADD ("refused", test_refused);
  ADD ("no-is-asked-twice", test_no_is_asked_twice);
  ADD ("actions", test_actions);
  ADD ("docker-down", test_docker_down);
  ADD ("second", test_second);
  ADD ("name-is-taken", test_name_is_taken);
  ADD ("objects", test_objects);
  ADD ("introspection", test_introspection);
  return g_test_run ();
}
