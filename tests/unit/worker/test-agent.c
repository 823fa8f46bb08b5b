/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Whole turns against a scripted broker, for what the contract's vectors do not ask. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"
#include "json-in.h"

#define MAX_STEPS 16

typedef struct {
  char *dir;
  char *socket_path;
  char *workspace;
  int listener;
  GThread *thread;
  const char *const *script; /* bodies of answers; NULL-terminated */
  GPtrArray *requests;       /* whole, as text; the thread's until it has been joined */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  fixture->dir = g_dir_make_tmp ("worker-agent-XXXXXX", NULL);
  fixture->socket_path = g_build_filename (fixture->dir, "b.sock", NULL);
  fixture->workspace = g_build_filename (fixture->dir, "work", NULL);
  g_mkdir (fixture->workspace, 0700);
  fixture->requests = g_ptr_array_new_with_free_func (g_free);
  fixture->listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_strlcpy (address.sun_path, fixture->socket_path, sizeof address.sun_path);
  g_assert_cmpint (bind (fixture->listener, (const struct sockaddr *)&address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fixture->listener, 8), ==, 0);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autofree char *command = g_strdup_printf ("rm -rf %s", fixture->dir);

  close (fixture->listener);
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  g_ptr_array_unref (fixture->requests);
  g_free (fixture->dir);
  g_free (fixture->socket_path);
  g_free (fixture->workspace);
}

static char *
read_request (int fd)
{
  g_autoptr (GString) data = g_string_new (NULL);
  gsize whole = 0;

  while (whole == 0 || data->len < whole) {
    char buffer[65536];
    ssize_t got = read (fd, buffer, sizeof buffer);
    const char *end;

    if (got <= 0)
      break;
    g_string_append_len (data, buffer, got);
    end = strstr (data->str, "\r\n\r\n");
    if (whole == 0 && end != NULL)
      whole = (gsize)(end - data->str) + 4
              + (gsize)g_ascii_strtoull (strstr (data->str, "content-length: ") + 16, NULL, 10);
  }
  return g_string_free (g_steal_pointer (&data), FALSE);
}

static gpointer
serve (gpointer user_data)
{
  Fixture *fixture = user_data;

  for (guint i = 0; fixture->script[i] != NULL; i++) {
    int fd = accept (fixture->listener, NULL, NULL);
    g_autofree char *answer = NULL;

    if (fd < 0)
      break;
    g_ptr_array_add (fixture->requests, read_request (fd));
    answer = g_strdup_printf ("HTTP/1.1 200 OK\r\ncontent-length: %" G_GSIZE_FORMAT "\r\n\r\n%s",
                              strlen (fixture->script[i]), fixture->script[i]);
    g_assert_cmpint (write (fd, answer, strlen (answer)), ==, (gssize)strlen (answer));
    close (fd);
  }
  return NULL;
}

/* The reply's line. The script must be used up. */
static char *
run (Fixture *fixture, const char *const *script, const char *more)
{
  SbxAgentPlaces places = { .socket_path = fixture->socket_path, .workspace = fixture->workspace };
  g_autofree char *turn =
    g_strdup_printf ("{\"text\":\"Hi\",\"speaker\":{\"id\":\"i\",\"name\":\"n\"},\"model\":\"m\",\"prompt\":"
                     "\"p\",\"timeZone\":\"UTC\","
                     "\"tools\":[{\"name\":\"clock\",\"description\":\"\",\"parameters\":{}}],\"mcp\":[]%s}",
                     more);
  g_autoptr (SbxReply) reply = NULL;
  GString *line;

  fixture->script = script;
  fixture->thread = g_thread_new ("broker", serve, fixture);
  reply = sbx_agent_run (&places, turn, strlen (turn));
  shutdown (fixture->listener, SHUT_RDWR); /* wakes a broker that waits in vain */
  g_thread_join (fixture->thread);
  g_assert_cmpuint (fixture->requests->len, ==, g_strv_length ((char **)script));
  line = sbx_reply_write (reply);
  return g_string_free (line, FALSE);
}

#define FINAL            "{\"choices\":[{\"message\":{\"content\":\"Done.\"}}]}"
#define CUT              "{\"choices\":[{\"message\":{\"content\":\"Do\"},\"finish_reason\":\"length\"}]}"
#define EMPTY            "{\"choices\":[{\"message\":{\"content\":\"\"}}]}"
#define CALL(name, id)   "{\"id\":\"" id "\",\"function\":{\"name\":\"" name "\",\"arguments\":\"{}\"}}"
#define CALLS(more, ...) "{\"choices\":[{\"message\":{\"tool_calls\":[" __VA_ARGS__ "]" more "}}]}"

static void
test_cut_short_is_said (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { CUT, NULL };
  g_autofree char *line = run (fixture, script, "");

  g_assert_cmpstr (
    line, ==,
    "{\"ok\":true,\"text\":\"Do\\n\\n[The answer was cut short: it reached the length limit.]\"}\n");
}

static void
test_empty_is_typed (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { EMPTY, NULL };
  g_autofree char *line = run (fixture, script, ",\"repair\":true");

  g_assert_true (g_str_has_suffix (line, ",\"reason\":\"empty-answer\"}\n"));
}

/* Three calls: model, one tool, model. The second tool must not take the model's last one. */
static void
test_keeps_a_call_for_the_model (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { CALLS ("", CALL ("host_clock", "a") "," CALL ("host_clock", "b")),
                                        "{\"text\":\"x\"}", FINAL, NULL };
  g_autofree char *line = run (fixture, script, ",\"calls\":3");

  g_assert_cmpstr (line, ==, "{\"ok\":true,\"text\":\"Done.\"}\n");
}

static void
test_ends_gracefully_without_calls (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { CALLS ("", CALL ("memory_get", "a")), NULL };
  g_autofree char *line = run (fixture, script, ",\"calls\":1,\"repair\":true");

  g_assert_true (g_str_has_suffix (line, ",\"reason\":\"calls-spent\"}\n"));
}

static void
test_keeps_members (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = {
    CALLS (",\"reasoning_content\":\"because\",\"other\":1", CALL ("memory_get", "a")), FINAL, NULL
  };
  g_autofree char *line = run (fixture, script, ",\"keep\":[\"reasoning_content\"]");

  g_assert_nonnull (strstr (fixture->requests->pdata[1], "\"reasoning_content\":\"because\"}"));
  g_assert_null (strstr (fixture->requests->pdata[1], "\"other\""));
}

static void
put (Fixture *fixture, const char *name, const char *content)
{
  g_autofree char *path = g_build_filename (fixture->workspace, name, NULL);

  g_assert_true (g_file_set_contents (path, content, -1, NULL));
}

static void
test_repairs (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { FINAL, NULL };
  g_autofree char *line = NULL;
  g_autofree char *history = g_build_filename (fixture->workspace, "history.json", NULL);
  g_autofree char *content = NULL;

  put (fixture, "memory.json", "[{\"scope\":");
  put (fixture, "history.json", "{}");
  line = run (fixture, script, ",\"repair\":true");
  g_assert_cmpstr (line, ==,
                   "{\"ok\":true,\"text\":\"Done.\",\"set_aside\":[\"memory.json\",\"history.json\"]}\n");
  g_assert_true (g_file_get_contents (history, &content, NULL, NULL));
  g_assert_true (g_str_has_suffix (content, "{\"role\":\"assistant\",\"content\":\"Done.\"}]"));
}

/* With a reset the history is not read; what cannot be replaced must go all the same. */
static void
test_repairs_at_reset (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { FINAL, NULL };
  g_autofree char *history = g_build_filename (fixture->workspace, "history.json", NULL);
  g_autofree char *line = NULL;

  g_assert_cmpint (g_mkdir (history, 0700), ==, 0);
  line = run (fixture, script, ",\"repair\":true,\"reset\":true");
  g_assert_cmpstr (line, ==, "{\"ok\":true,\"text\":\"Done.\",\"set_aside\":[\"history.json\"]}\n");
  g_assert_true (g_file_test (history, G_FILE_TEST_IS_REGULAR));
}

static void
test_no_repair_unasked (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { NULL };
  g_autofree char *line = NULL;

  put (fixture, "history.json", "{}");
  line = run (fixture, script, "");
  g_assert_true (g_str_has_prefix (line, "{\"ok\":false,"));
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "cut-short", test_cut_short_is_said },          { "empty", test_empty_is_typed },
    { "last-call", test_keeps_a_call_for_the_model }, { "no-calls", test_ends_gracefully_without_calls },
    { "kept-members", test_keeps_members },           { "repair", test_repairs },
    { "repair-at-reset", test_repairs_at_reset },     { "no-repair", test_no_repair_unasked },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_autofree char *path = g_strconcat ("/worker/agent/", tests[i].name, NULL);

    g_test_add (path, Fixture, NULL, set_up, tests[i].test, tear_down);
  }
  return g_test_run ();
}
