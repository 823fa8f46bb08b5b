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
  g_assert_cmpint (bind (fixture->listener, (const struct sockaddr *) &address, sizeof address), ==, 0);
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

  while (whole == 0 || data->len < whole)
    {
      char buffer[65536];
      ssize_t got = read (fd, buffer, sizeof buffer);
      const char *end;

      if (got <= 0)
        break;
      g_string_append_len (data, buffer, got);
      end = strstr (data->str, "\r\n\r\n");
      if (whole == 0 && end != NULL)
        whole = (gsize) (end - data->str) + 4
                + (gsize) g_ascii_strtoull (strstr (data->str, "content-length: ") + 16, NULL, 10);
    }
  return g_string_free (g_steal_pointer (&data), FALSE);
}

static gpointer
serve (gpointer user_data)
{
  Fixture *fixture = user_data;

  for (guint i = 0; fixture->script[i] != NULL; i++)
    {
      int fd = accept (fixture->listener, NULL, NULL);
      g_autofree char *answer = NULL;

      if (fd < 0)
        break;
      g_ptr_array_add (fixture->requests, read_request (fd));
      answer = g_strdup_printf ("HTTP/1.1 200 OK\r\ncontent-length: %" G_GSIZE_FORMAT "\r\n\r\n%s",
                                strlen (fixture->script[i]), fixture->script[i]);
      g_assert_cmpint (write (fd, answer, strlen (answer)), ==, (gssize) strlen (answer));
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
  g_assert_cmpuint (fixture->requests->len, ==, g_strv_length ((char **) script));
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
    CALLS (",\"reasoning_content\":\"because\",\"other\":1",
           "{\"id\":\"x\",\"index\":0,\"extra_content\":{\"google\":{\"thought_signature\":\"AbC\"}},"
           "\"function\":{\"name\":\"memory_get\",\"arguments\":\"{}\"}}"),
    FINAL, NULL
  };
  g_autofree char *line = run (fixture, script, ",\"keep\":[\"reasoning_content\",\"extra_content\",\"id\"]");

  g_assert_nonnull (strstr (fixture->requests->pdata[1], "\"reasoning_content\":\"because\"}"));
  g_assert_nonnull (
    strstr (fixture->requests->pdata[1],
            "\"arguments\":\"{}\"},\"extra_content\":{\"google\":{\"thought_signature\":\"AbC\"}}}"));
  g_assert_null (strstr (fixture->requests->pdata[1], "\"other\""));
  g_assert_null (strstr (fixture->requests->pdata[1], "\"index\""));
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

#define SUMMARY "{\"choices\":[{\"message\":{\"content\":\"They like plums.\"}}]}"
#define HEAD    "[Summary of what was said before]\\n"

/* 20 messages, the first of them a summary. */
static void
put_full_history (Fixture *fixture)
{
  g_autoptr (GString) json = g_string_new ("[{\"role\":\"user\",\"content\":\"" HEAD "Old summary.\"}");

  for (guint i = 1; i < 20; i++)
    g_string_append_printf (json, ",{\"role\":\"%s\",\"content\":\"m%u\"}", i % 2 == 0 ? "user" : "assistant",
                            i);
  g_string_append_c (json, ']');
  put (fixture, "history.json", json->str);
}

static char *
saved_history (Fixture *fixture)
{
  g_autofree char *path = g_build_filename (fixture->workspace, "history.json", NULL);
  char *content = NULL;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  return content;
}

static void
test_compacts_by_compactor (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { "{\"text\":\" By hand. \"}", FINAL, NULL };
  g_autofree char *line = NULL;
  g_autofree char *saved = NULL;
  const char *asked;

  put_full_history (fixture);
  line = run (fixture, script, ",\"repair\":true,\"compaction\":{\"compactor\":\"sum\"}");
  g_assert_nonnull (strstr (line, "\"compaction\":{\"by\":\"tool\",\"reason\":\"none\",\"tokens_before\":"));
  asked = fixture->requests->pdata[0];
  g_assert_true (g_str_has_prefix (asked, "POST /tools/sum HTTP/1.1\r\n"));
  g_assert_nonnull (
    strstr (asked, "{\"previous_summary\":\"Old summary.\",\"messages\":[{\"role\":\"assistant\",\"content\":"
                   "\"m1\"}"));
  g_assert_nonnull (strstr (asked, "\"m11\"}],\"kept\":[{\"role\":\"user\",\"content\":\"m12\"}"));
  g_assert_null (strstr (asked, "Summary of what"));
  saved = saved_history (fixture);
  g_assert_true (g_str_has_prefix (saved,
                                   "[{\"role\":\"user\",\"content\":\"" HEAD "By hand.\"},{\"role\":\"user\","
                                   "\"content\":\"m12\"}"));
  g_assert_null (strstr (saved, "Old summary"));
}

static void
test_compacts_by_model (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { "{}", SUMMARY, FINAL, NULL };
  g_autofree char *line = NULL;
  g_autofree char *saved = NULL;

  put_full_history (fixture);
  line = run (fixture, script, ",\"repair\":true,\"calls\":4,\"compaction\":{\"compactor\":\"sum\"}");
  g_assert_nonnull (strstr (line, "\"by\":\"model\",\"reason\":\"compactor-invalid\""));
  g_assert_true (g_str_has_prefix (fixture->requests->pdata[1], "POST /model HTTP/1.1\r\n"));
  g_assert_nonnull (strstr (fixture->requests->pdata[2], "They like plums."));
  saved = saved_history (fixture);
  g_assert_true (g_str_has_prefix (saved, "[{\"role\":\"user\",\"content\":\"" HEAD "They like plums.\"}"));
}

/* Neither time nor calls are taken from the turn itself; then the old messages go, as without compaction. */
static void
test_does_not_compact_at_the_turns_cost (Fixture *fixture, gconstpointer data)
{
  static const struct {
    const char *more;
    const char *said;
  } cases[] = {
    { ",\"repair\":true,\"calls\":2,\"compaction\":{\"compactor\":\"sum\"}",
      "\"by\":\"dropped\",\"reason\":\"no-calls\"" },
    { ",\"repair\":true,\"remaining_ms\":3000,\"compaction\":{}",
      "\"by\":\"dropped\",\"reason\":\"no-time\"" },
  };
  static const char *const script[] = { FINAL, NULL };
  g_autofree char *line = NULL;
  g_autofree char *saved = NULL;
  guint i = GPOINTER_TO_UINT (data);

  put_full_history (fixture);
  line = run (fixture, script, cases[i].more);
  g_assert_nonnull (strstr (line, cases[i].said));
  saved = saved_history (fixture);
  g_assert_true (g_str_has_prefix (saved, "[{\"role\":\"user\",\"content\":\"m2\"}"));
}

static void
test_compacts_only_when_due (Fixture *fixture, gconstpointer data)
{
  static const char *const script[] = { FINAL, NULL };
  g_autofree char *line = NULL;

  put (fixture, "history.json", "[{\"role\":\"user\",\"content\":\"m\"}]");
  line = run (fixture, script, ",\"repair\":true,\"compaction\":{}");
  g_assert_null (strstr (line, "compaction"));
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "cut-short", test_cut_short_is_said },
    { "empty", test_empty_is_typed },
    { "last-call", test_keeps_a_call_for_the_model },
    { "no-calls", test_ends_gracefully_without_calls },
    { "kept-members", test_keeps_members },
    { "repair", test_repairs },
    { "repair-at-reset", test_repairs_at_reset },
    { "no-repair", test_no_repair_unasked },
    { "compactor", test_compacts_by_compactor },
    { "compaction-by-model", test_compacts_by_model },
    { "compaction-due", test_compacts_only_when_due },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strconcat ("/worker/agent/", tests[i].name, NULL);

      g_test_add (path, Fixture, NULL, set_up, tests[i].test, tear_down);
    }
  g_test_add ("/worker/agent/compaction-calls", Fixture, GUINT_TO_POINTER (0), set_up,
              test_does_not_compact_at_the_turns_cost, tear_down);
  g_test_add ("/worker/agent/compaction-time", Fixture, GUINT_TO_POINTER (1), set_up,
              test_does_not_compact_at_the_turns_cost, tear_down);
  return g_test_run ();
}
