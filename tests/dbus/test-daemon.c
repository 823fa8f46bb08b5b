/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The daemon's program on a real bus (a private dbus-daemon), with peers that play polkit and systemd and a
 * Docker that is not there: what callers see, and what polkit is asked. Arguments: the program and its
 * interface's XML.
 */
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#include "base/names.h"
#include "bus/bus-auto.h"
#include "bus/bus-call.h"
#include "sbx-config.h"
#include "test-bus.h"

#define ERROR(name) SBX_BUS_ERROR_PREFIX name
#define DENIED      "org.freedesktop.DBus.Error.AccessDenied"
#define INTERACTIVE "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"

static const char *program;
static const char *xml_file;

typedef enum { POLKIT_YES, POLKIT_NO, POLKIT_CHALLENGE } PolkitAnswer;

typedef struct {
  TestBus bus;
  char *dir;
  GSubprocess *daemon;
  PolkitAnswer polkit;
  GPtrArray *asked; /* "action key=value …", each check that polkit got */
  guint scopes;     /* calls of StartTransientUnit */
} Fixture;

/* --- the peers ------------------------------------------------------------------------------------------ */

static int
method_check (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;
  GString *line = g_string_new (NULL);
  const char *action = NULL;
  const char *key = NULL;
  const char *value = NULL;

  g_assert_cmpint (sd_bus_message_skip (message, "(sa{sv})"), >=, 0);
  g_assert_cmpint (sd_bus_message_read (message, "s", &action), >=, 0);
  g_string_append (line, action);
  g_assert_cmpint (sd_bus_message_enter_container (message, 'a', "{ss}"), >=, 0);
  while (sd_bus_message_read (message, "{ss}", &key, &value) > 0)
    g_string_append_printf (line, " %s=%s", key, value);
  g_ptr_array_add (f->asked, g_string_free (line, FALSE));
  return sd_bus_reply_method_return (message, "(bba{ss})", f->polkit == POLKIT_YES,
                                     f->polkit == POLKIT_CHALLENGE, 0);
}

static int
method_start (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;

  f->scopes++;
  return sd_bus_error_set (ret_error, DENIED, "Access denied");
}

static int
method_nothing (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_reply_method_return (message, NULL);
}

static int
method_list (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_reply_method_return (message, "a(ssssssouso)", 0);
}

static const sd_bus_vtable polkit_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", method_check,
                 SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("CancelCheckAuthorization", "s", NULL, method_nothing, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

static const sd_bus_vtable systemd_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("Subscribe", NULL, NULL, method_nothing, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("StartTransientUnit", "ssa(sv)a(sa(sv))", "o", method_start, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("ListUnitsByPatterns", "asas", "a(ssssssouso)", method_list, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

/* --- the daemon ----------------------------------------------------------------------------------------- */

static GSubprocess *
spawn (Fixture *f, GSubprocessFlags flags)
{
  g_autofree char *address =
    g_strconcat ("--bus-address=", g_test_dbus_get_bus_address (f->bus.daemon), NULL);
  g_autofree char *root = g_strdup_printf ("--root=%s/root", f->dir);
  g_autofree char *state = g_strdup_printf ("--state-dir=%s/state", f->dir);
  g_autofree char *run = g_strdup_printf ("--run-dir=%s/run", f->dir);
  g_autofree char *docker = g_strdup_printf ("--docker-socket=%s/docker.sock", f->dir);
  g_autofree char *egress = g_strdup_printf ("--egress-socket=%s/egress.sock", f->dir);
  g_autoptr (GError) error = NULL;
  GSubprocess *child =
    g_subprocess_new (flags, &error, program, address, root, state, run, docker, egress, NULL);

  g_assert_no_error (error);
  return child;
}

static int
on_owner (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  *(gboolean *) user_data = TRUE;
  return 0;
}

static void
start_daemon (Fixture *f)
{
  g_autoptr (sd_bus_slot) slot = NULL;
  gboolean there = FALSE;

  g_assert_cmpint (sd_bus_add_match (f->bus.client, &slot,
                                     "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
                                     "arg0='" SBX_BUS_NAME "'",
                                     on_owner, &there),
                   >=, 0);
  f->daemon = spawn (f, G_SUBPROCESS_FLAGS_NONE);
  while (!there)
    g_main_context_iteration (NULL, TRUE);
}

static void
stop_daemon (Fixture *f)
{
  g_subprocess_send_signal (f->daemon, SIGTERM);
  g_assert_true (g_subprocess_wait (f->daemon, NULL, NULL));
  g_assert_true (g_subprocess_get_successful (f->daemon));
  g_clear_object (&f->daemon);
}

static void
make_dir (Fixture *f, const char *name)
{
  g_autofree char *path = g_build_filename (f->dir, name, NULL);

  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
}

/* A worker's user that every host has. */
static void
write_configuration (Fixture *f)
{
  g_autofree char *dir = g_build_filename (f->dir, "root" SBX_SYSCONFDIR, NULL);
  g_autofree char *file = g_build_filename (dir, "sandboxd.conf", NULL);

  g_assert_cmpint (g_mkdir_with_parents (dir, 0700), ==, 0);
  g_assert_true (g_file_set_contents (file, "[Worker]\nUser=nobody\n", -1, NULL));
}

static void
set_up (Fixture *f, gconstpointer data)
{
  f->asked = g_ptr_array_new_with_free_func (g_free);
  f->dir = g_dir_make_tmp ("sandboxd-XXXXXX", NULL);
  write_configuration (f);
  make_dir (f, "state");
  make_dir (f, "run");
  test_bus_set_up (&f->bus, "org.freedesktop.PolicyKit1");
  g_assert_cmpint (sd_bus_request_name (f->bus.peer, "org.freedesktop.systemd1", 0), >=, 0);
  g_assert_cmpint (sd_bus_add_object_vtable (f->bus.peer, NULL, "/org/freedesktop/PolicyKit1/Authority",
                                             "org.freedesktop.PolicyKit1.Authority", polkit_vtable, f),
                   >=, 0);
  g_assert_cmpint (sd_bus_add_object_vtable (f->bus.peer, NULL, "/org/freedesktop/systemd1",
                                             "org.freedesktop.systemd1.Manager", systemd_vtable, f),
                   >=, 0);
  start_daemon (f);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_autoptr (GSubprocess) rm = NULL;

  stop_daemon (f);
  test_bus_tear_down (&f->bus);
  rm = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, NULL, "rm", "-rf", f->dir, NULL);
  g_assert_true (g_subprocess_wait_check (rm, NULL, NULL));
  g_free (f->dir);
  g_ptr_array_unref (f->asked);
}

/* --- calls ---------------------------------------------------------------------------------------------- */

static sd_bus_message *
send_call (Fixture *f, sd_bus_message *call)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  sd_bus_message *answer = NULL;

  sbx_bus_call_async (f->bus.client, call, 20000, NULL, keep_result, &result);
  answer = sbx_bus_call_finish (await_result (&result), &error);
  g_assert_no_error (error);
  return answer;
}

static sd_bus_message *
new_call (Fixture *f, const char *interface, const char *method)
{
  sd_bus_message *call = NULL;

  g_assert_cmpint (
    sd_bus_message_new_method_call (f->bus.client, &call, SBX_BUS_NAME, SBX_OBJECT_PATH, interface, method),
    >=, 0);
  return call;
}

/* A call with texts alone, NULL-terminated; RunTurn gets its empty options by itself. error NULL: it must
 * succeed. */
static sd_bus_message *
call (Fixture *f, const char *method, const char *const *texts, const char *error)
{
  g_autoptr (sd_bus_message) message = new_call (f, SBX_MANAGER_INTERFACE, method);
  sd_bus_message *answer = NULL;
  const sd_bus_error *got = NULL;

  for (gsize i = 0; texts[i] != NULL; i++)
    g_assert_cmpint (sd_bus_message_append (message, "s", texts[i]), >=, 0);
  if (g_str_equal (method, "RunTurn"))
    g_assert_cmpint (sd_bus_message_append (message, "a{sv}", 0), >=, 0);
  answer = send_call (f, message);
  got = sd_bus_message_get_error (answer);
  g_assert_cmpstr (got != NULL ? got->name : NULL, ==, error);
  return answer;
}

#define TEXTS(...)                                                                                           \
  (const char *const[])                                                                                      \
  {                                                                                                          \
    __VA_ARGS__, NULL                                                                                        \
  }
#define NO_TEXTS                                                                                             \
  (const char *const[])                                                                                      \
  {                                                                                                          \
    NULL                                                                                                     \
  }
#define CALL(f, method, texts, error) sd_bus_message_unref (call (f, method, texts, error))

static void
expect_mode (Fixture *f, const char *channel, const char *mode)
{
  g_autoptr (sd_bus_message) answer = call (f, "GetChannelMode", TEXTS (channel), NULL);
  const char *got = NULL;

  g_assert_cmpint (sd_bus_message_read (answer, "s", &got), >=, 0);
  g_assert_cmpstr (got, ==, mode);
}

/* --- what is tested ------------------------------------------------------------------------------------- */

static void
test_modes (Fixture *f, gconstpointer data)
{
  expect_mode (f, "discord:1", "off");
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  expect_mode (f, "discord:1", "on");
  stop_daemon (f);
  start_daemon (f);
  expect_mode (f, "discord:1", "on");
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "off"), NULL);
  expect_mode (f, "discord:1", "off");
}

static void
test_arguments (Fixture *f, gconstpointer data)
{
  g_autofree char *long_text = g_strnfill (32001, 'x');
  g_autofree char *long_name = g_strnfill (257, 'x');

  CALL (f, "SetChannelMode", TEXTS ("discord:1", "maybe"), ERROR ("InvalidMode"));
  CALL (f, "SetChannelMode", TEXTS ("", "on"), ERROR ("InvalidChannel"));
  CALL (f, "GetChannelMode", TEXTS ("Discord"), ERROR ("InvalidChannel"));
  CALL (f, "CancelTurn", TEXTS ("nope"), ERROR ("NoSuchTurn"));
  CALL (f, "RunTurn", TEXTS ("discord:1", "s", "n", "hello"), ERROR ("NotSandboxed"));
  CALL (f, "SetChannelMode", TEXTS ("discord:1", "on"), NULL);
  CALL (f, "RunTurn", TEXTS ("discord:1", "s", "n", long_text), ERROR ("TextTooLong"));
  CALL (f, "RunTurn", TEXTS ("discord:1", long_name, "n", "hello"), ERROR ("InvalidSpeaker"));
  g_assert_cmpuint (f->scopes, ==, 0);
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
  expect_mode (f, "discord:1", "on");
  g_assert_cmpuint (f->scopes, ==, 0);
}

static gboolean
was_asked (Fixture *f, const char *action)
{
  for (guint i = 0; i < f->asked->len; i++)
    if (g_str_has_prefix (g_ptr_array_index (f->asked, i), action))
      return TRUE;
  return FALSE;
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
  g_assert_true (was_asked (f, SBX_BUS_NAME ".set-channel-mode channel=discord:1"));
  g_assert_true (was_asked (f, SBX_BUS_NAME ".get-channel-mode"));
  g_assert_true (was_asked (f, SBX_BUS_NAME ".run-turn channel=discord:1"));
  g_assert_true (was_asked (f, SBX_BUS_NAME ".list-turns"));
  for (guint i = 0; i < f->asked->len; i++)
    {
      g_assert_null (strstr (g_ptr_array_index (f->asked, i), "secret"));
      g_assert_null (strstr (g_ptr_array_index (f->asked, i), "speaker-7"));
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
  answer = call (f, "ListTurns", NO_TEXTS, NULL);
  g_assert_cmpint (sd_bus_message_enter_container (answer, 'a', "(sssut)"), >=, 0);
  left = g_dir_open (run, 0, NULL);
  for (const char *name = g_dir_read_name (left); name != NULL; name = g_dir_read_name (left))
    g_assert_false (g_str_has_prefix (name, SBX_TURN_DIR_PREFIX));
}

/* Two on one state directory would lose each other's writes. */
static void
test_second (Fixture *f, gconstpointer data)
{
  g_autoptr (GSubprocess) second = spawn (f, G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autofree char *text = NULL;

  g_assert_true (g_subprocess_communicate_utf8 (second, NULL, NULL, NULL, &text, NULL));
  g_assert_false (g_subprocess_get_successful (second));
  g_assert_cmpstr (text, !=, "");
  expect_mode (f, "discord:1", "off");
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

static char *
describe (const char *xml, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GDBusNodeInfo) node = g_dbus_node_info_new_for_xml (xml, &error);
  GDBusInterfaceInfo *interface = NULL;
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

  g_assert_no_error (error);
  interface = g_dbus_node_info_lookup_interface (node, name);
  g_assert_nonnull (interface);
  for (gsize i = 0; interface->methods != NULL && interface->methods[i] != NULL; i++)
    {
      GString *line = g_string_new (interface->methods[i]->name);

      append_arguments (line, interface->methods[i]->in_args);
      g_string_append (line, " ->");
      append_arguments (line, interface->methods[i]->out_args);
      g_ptr_array_add (lines, g_string_free (line, FALSE));
    }
  for (gsize i = 0; interface->properties != NULL && interface->properties[i] != NULL; i++)
    {
      GDBusPropertyInfo *property = interface->properties[i];
      const char *emits = g_dbus_annotation_info_lookup (property->annotations,
                                                         "org.freedesktop.DBus.Property.EmitsChangedSignal");

      g_ptr_array_add (lines, g_strdup_printf ("%s %s %u %s", property->name, property->signature,
                                               (guint) property->flags, emits != NULL ? emits : "true"));
    }
  g_ptr_array_sort (lines, by_text);
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("\n", (char **) lines->pdata);
}

static void
test_introspection (Fixture *f, gconstpointer data)
{
  g_autoptr (sd_bus_message) message = new_call (f, "org.freedesktop.DBus.Introspectable", "Introspect");
  g_autoptr (sd_bus_message) answer = send_call (f, message);
  g_autofree char *written = NULL;
  g_autofree char *wanted = NULL;
  g_autofree char *live = NULL;
  const char *xml = NULL;

  g_assert_cmpint (sd_bus_message_read (answer, "s", &xml), >=, 0);
  g_assert_true (g_file_get_contents (xml_file, &written, NULL, NULL));
  live = describe (xml, SBX_MANAGER_INTERFACE);
  wanted = describe (written, SBX_MANAGER_INTERFACE);
  g_assert_cmpstr (live, ==, wanted);
}

#define ADD(name, function) g_test_add ("/daemon/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 3);
  program = argv[1];
  xml_file = argv[2];
  ADD ("modes", test_modes);
  ADD ("arguments", test_arguments);
  ADD ("refused", test_refused);
  ADD ("actions", test_actions);
  ADD ("docker-down", test_docker_down);
  ADD ("second", test_second);
  ADD ("introspection", test_introspection);
  return g_test_run ();
}
