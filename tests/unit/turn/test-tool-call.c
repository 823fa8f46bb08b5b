/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Host tools on a socket: what they are sent, and what becomes of what they do. */
#include "turn/tool-call.h"

#include <glib-unix.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

typedef enum {
  TOOL_ANSWERS, /* reads all, then writes `answer` */
  TOOL_IGNORES, /* writes `answer` without reading */
  TOOL_RESETS,  /* closes with the input unread */
  TOOL_HANGS,
} ToolKind;

typedef struct {
  char *directory;
  char *path;
  SbxFd listener;
  SbxFd peer;
  guint accept_source;
  guint read_source;
  GString *seen;
  ToolKind kind;
  GBytes *answer;
  gboolean peer_closed;
  GAsyncResult *result;
} Fixture;

static void
tool_answer (Fixture *self)
{
  gsize n_bytes = 0;
  const char *data = g_bytes_get_data (self->answer, &n_bytes);

  while (n_bytes > 0)
    {
      gssize n = send (self->peer, data, n_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

      /* The caller is in this very main loop. */
      if (n < 0 && errno == EAGAIN)
        {
          g_main_context_iteration (NULL, FALSE);
          continue;
        }
      if (n < 0)
        break;
      data += n;
      n_bytes -= (gsize) n;
    }
  sbx_fd_close (g_steal_fd (&self->peer));
}

static gboolean
on_tool_readable (int fd, GIOCondition condition, gpointer user_data)
{
  Fixture *self = user_data;
  char piece[4096];
  gssize n = recv (fd, piece, sizeof piece, MSG_DONTWAIT);

  if (n > 0)
    {
      g_string_append_len (self->seen, piece, n);
      return G_SOURCE_CONTINUE;
    }
  self->read_source = 0;
  self->peer_closed = TRUE;
  if (self->kind == TOOL_ANSWERS)
    tool_answer (self);
  return G_SOURCE_REMOVE;
}

static gboolean
on_tool_called (int fd, GIOCondition condition, gpointer user_data)
{
  Fixture *self = user_data;

  self->peer = accept4 (fd, NULL, NULL, SOCK_CLOEXEC);
  if (self->kind == TOOL_IGNORES)
    tool_answer (self);
  else if (self->kind == TOOL_RESETS)
    sbx_fd_close (g_steal_fd (&self->peer));
  else
    self->read_source = g_unix_fd_add (self->peer, G_IO_IN | G_IO_HUP, on_tool_readable, self);
  return G_SOURCE_CONTINUE;
}

static void
set_up (Fixture *self, gconstpointer data)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  self->directory = g_dir_make_tmp ("sbx-tool-XXXXXX", NULL);
  self->path = g_build_filename (self->directory, "sock", NULL);
  self->peer = -1;
  self->seen = g_string_new (NULL);
  self->listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_strlcpy (address.sun_path, self->path, sizeof address.sun_path);
  g_assert_no_errno (bind (self->listener, (struct sockaddr *) &address, sizeof address));
  g_assert_no_errno (listen (self->listener, 4));
  self->accept_source = g_unix_fd_add (self->listener, G_IO_IN, on_tool_called, self);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  g_source_remove (self->accept_source);
  if (self->read_source != 0)
    g_source_remove (self->read_source);
  sbx_fd_close (self->peer);
  sbx_fd_close (self->listener);
  (void) g_unlink (self->path);
  (void) g_rmdir (self->directory);
  g_free (self->path);
  g_free (self->directory);
  g_string_free (self->seen, TRUE);
  g_clear_pointer (&self->answer, g_bytes_unref);
  g_clear_object (&self->result);
}

static const SbxToolIdentity ada = {
  .turn = "t1", .channel = "a:1", .speaker_id = "7", .speaker_name = "Ada \"\n{", .principal = "p"
};

static void
on_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  ((Fixture *) user_data)->result = g_object_ref (result);
}

static SbxFailure
call (Fixture *self, SbxToolTarget *target, const char *input, GCancellable *cancellable, GBytes **ret_text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (input, strlen (input));

  sbx_tool_call_async (target, NULL, &ada, bytes, cancellable, on_done, self);
  while (self->result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (target->running, ==, 0);
  return sbx_tool_call_finish (self->result, ret_text);
}

static void
test_identity_line (void)
{
  g_autoptr (GBytes) line = sbx_tool_identity_line (&ada);
  SbxToolIdentity nobody = ada;
  g_autoptr (GBytes) other = NULL;
  g_autofree char *text = g_strndup (g_bytes_get_data (line, NULL), g_bytes_get_size (line));
  g_autofree char *without = NULL;

  g_assert_cmpstr (
    text, ==,
    "{\"turn\":\"t1\",\"channel\":\"a:1\",\"speaker\":{\"id\":\"7\",\"name\":\"Ada \\\"\\n{\"},"
    "\"principal\":\"p\"}\n");
  nobody.principal = NULL;
  other = sbx_tool_identity_line (&nobody);
  without = g_strndup (g_bytes_get_data (other, NULL), g_bytes_get_size (other));
  g_assert_null (strstr (without, "principal"));
}

/* What the guest writes stays behind the first line, whatever it looks like. */
static void
test_two_parts (Fixture *self, gconstpointer data)
{
  const char *input = "{\"turn\":\"forged\"}\n{\"speaker\":{\"id\":\"1\"}}";
  g_autoptr (SbxToolTarget) target = sbx_tool_target_new_socket ("echo", self->path);
  g_autoptr (GBytes) line = sbx_tool_identity_line (&ada);
  g_autoptr (GBytes) text = NULL;
  g_autofree char *expected = NULL;

  self->kind = TOOL_ANSWERS;
  self->answer = g_bytes_new_static ("fine", 4);
  g_assert_cmpint (call (self, target, input, NULL, &text), ==, SBX_FAILURE_NONE);
  g_assert_cmpmem (g_bytes_get_data (text, NULL), g_bytes_get_size (text), "fine", 4);
  expected = g_strdup_printf ("%.*s%s", (int) g_bytes_get_size (line),
                              (const char *) g_bytes_get_data (line, NULL), input);
  g_assert_cmpstr (self->seen->str, ==, expected);
}

typedef struct {
  const char *name;
  ToolKind kind;
  const char *answer;
  gsize n_bytes; /* of fill, where answer is NULL */
  SbxFailure failure;
} Case;

static const Case cases[] = {
  { "ignores-input", TOOL_IGNORES, "text", 0, SBX_FAILURE_NONE },
  { "empty", TOOL_ANSWERS, "", 0, SBX_FAILURE_TOOL_BUSY },
  { "reset", TOOL_RESETS, "", 0, SBX_FAILURE_TOOL_BUSY },
  { "not-utf-8", TOOL_ANSWERS, "a\xff", 0, SBX_FAILURE_TOOL_FAILED },
  { "largest", TOOL_ANSWERS, NULL, SBX_MAX_ANSWER_BYTES, SBX_FAILURE_NONE },
  { "too-large", TOOL_ANSWERS, NULL, SBX_MAX_ANSWER_BYTES + 1, SBX_FAILURE_TOOL_FAILED },
  { "too-large-at-once", TOOL_IGNORES, NULL, 2 * SBX_MAX_ANSWER_BYTES, SBX_FAILURE_TOOL_FAILED },
};

static void
test_answer (Fixture *self, gconstpointer data)
{
  const Case *one = data;
  g_autoptr (SbxToolTarget) target = sbx_tool_target_new_socket ("tool", self->path);
  g_autoptr (GBytes) text = NULL;

  self->kind = one->kind;
  self->answer = one->answer != NULL ? g_bytes_new_static (one->answer, strlen (one->answer))
                                     : g_bytes_new_take (g_strnfill (one->n_bytes, 'x'), one->n_bytes);
  g_assert_cmpstr (sbx_failure_name (call (self, target, "{}", NULL, &text)), ==,
                   sbx_failure_name (one->failure));
  if (one->failure == SBX_FAILURE_NONE)
    g_assert_cmpuint (g_bytes_get_size (text), ==, g_bytes_get_size (self->answer));
}

static void
test_not_there (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxToolTarget) target = sbx_tool_target_new_socket ("tool", "/nonexistent/sock");

  g_assert_cmpint (call (self, target, "{}", NULL, NULL), ==, SBX_FAILURE_TOOL_FAILED);
}

static void
test_provider_without_bus (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxToolTarget) target = sbx_tool_target_new_bus ("tool", "a.b", "/a", "a.b", "Call");

  g_assert_cmpint (call (self, target, "{}", NULL, NULL), ==, SBX_FAILURE_TOOL_FAILED);
}

static void
test_deadline (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxToolTarget) target = sbx_tool_target_new_socket ("tool", self->path);

  self->kind = TOOL_HANGS;
  target->deadline_msec = 50;
  g_assert_cmpint (call (self, target, "{}", NULL, NULL), ==, SBX_FAILURE_TOOL_TIMEOUT);
}

static gboolean
on_cancel (gpointer user_data)
{
  g_cancellable_cancel (user_data);
  return G_SOURCE_REMOVE;
}

/* The tool sees its caller close. */
static void
test_cancel (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxToolTarget) target = sbx_tool_target_new_socket ("tool", self->path);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  self->kind = TOOL_HANGS;
  g_idle_add (on_cancel, cancellable);
  g_assert_cmpint (call (self, target, "{}", cancellable, NULL), ==, SBX_FAILURE_CANCELLED);
  while (!self->peer_closed)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_too_many (Fixture *self, gconstpointer data)
{
  g_autoptr (SbxToolTarget) target = sbx_tool_target_new_socket ("tool", self->path);
  g_autoptr (GBytes) input = g_bytes_new_static ("{}", 2);

  target->running = SBX_TOOL_MAX_RUNNING;
  sbx_tool_call_async (target, NULL, &ada, input, NULL, on_done, self);
  while (self->result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (sbx_tool_call_finish (self->result, NULL), ==, SBX_FAILURE_TOOL_BUSY);
  g_assert_cmpuint (target->running, ==, SBX_TOOL_MAX_RUNNING);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/tool-call/identity-line", test_identity_line);
#define ADD(name, func) g_test_add ("/turn/tool-call/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("two-parts", test_two_parts);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat ("/turn/tool-call/answer/", cases[i].name, NULL);

      g_test_add (name, Fixture, &cases[i], set_up, test_answer, tear_down);
    }
  ADD ("not-there", test_not_there);
  ADD ("provider-without-bus", test_provider_without_bus);
  ADD ("deadline", test_deadline);
  ADD ("cancel", test_cancel);
  ADD ("too-many", test_too_many);
  return g_test_run ();
}
