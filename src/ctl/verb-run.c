/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* run */
#include "ctl/ctl.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* A turn may take ten minutes, and wait for others before. */
#define RUN_TIMEOUT_SEC 3600
/* What the service takes at most is less; this only bounds what is read. */
#define MAX_INPUT_BYTES (1024u * 1024u)

/* The message from standard input, without its last line end. NULL, and said, where it cannot be read. */
static char *
read_text (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char buffer[16384];
  ssize_t n;

  while ((n = read (STDIN_FILENO, buffer, sizeof buffer)) > 0 && text->len <= MAX_INPUT_BYTES)
    g_string_append_len (text, buffer, n);
  if (n < 0 || text->len > MAX_INPUT_BYTES || memchr (text->str, '\0', text->len) != NULL)
    {
      g_printerr ("Standard input is no message: it cannot be read, is over 1 MiB, or holds a NUL byte.\n");
      return NULL;
    }
  if (text->len > 0 && text->str[text->len - 1] == '\n')
    g_string_truncate (text, text->len - 1);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
print_json (SbxCtl *ctl, gboolean ok, const char *text)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *line = NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "ok");
  json_builder_add_boolean_value (builder, ok);
  json_builder_set_member_name (builder, "text");
  json_builder_add_string_value (builder, text);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  line = sbx_json_text (root, ctl->json);
  g_print ("%s", line);
}

/* A reply is made of what a model and guests say: a file or a pipe gets it as it is, a terminal what it can
 * show.
 */
static void
print_answer (gboolean ok, const char *answer)
{
  gboolean terminal = isatty (ok ? STDOUT_FILENO : STDERR_FILENO);
  g_autofree char *shown = terminal ? sbx_text_terminal (answer) : g_strdup (answer);

  if (ok)
    g_print ("%s\n", shown);
  else
    g_printerr ("%s\n", shown);
}

static int
append_options (SbxCtl *ctl, SbxMessage *call)
{
  int r = sd_bus_message_open_container (call, 'a', "{sv}");

  if (r >= 0 && ctl->principal != NULL)
    r = sd_bus_message_append (call, "{sv}", "principal", "s", ctl->principal);
  return r < 0 ? r : sd_bus_message_close_container (call);
}

SbxExit
sbx_verb_run (SbxCtl *ctl, int n_words, char **words)
{
  static const char *const what = "run a turn";
  SbxExit status = SBX_EXIT_GOOD;
  g_autofree char *text =
    n_words < 3 || g_str_equal (words[2], "-") ? read_text () : g_strjoinv (" ", words + 2);
  g_autofree char *id =
    ctl->speaker_id != NULL ? g_strdup (ctl->speaker_id) : g_strdup_printf ("uid:%u", (guint) getuid ());
  const char *name = ctl->speaker_name != NULL ? ctl->speaker_name : g_get_user_name ();
  const char *answer = NULL;
  int ok = 0, r;
  g_autoptr (SbxMessage) call = NULL;
  g_autoptr (SbxMessage) reply = NULL;

  if (text == NULL)
    return SBX_EXIT_USAGE;
  call = sbx_ctl_call_new (ctl, "RunTurn", what, &status);
  if (call == NULL)
    return status;
  r = sd_bus_message_append (call, "ssss", words[1], id, name, text);
  if (r >= 0)
    r = append_options (ctl, call);
  reply =
    sbx_ctl_call (ctl, call, r, ctl->timeout_sec > 0 ? ctl->timeout_sec : RUN_TIMEOUT_SEC, what, &status);
  if (reply == NULL)
    return status;

  r = sd_bus_message_read (reply, "bs", &ok, &answer);
  if (r < 0)
    return sbx_ctl_bad_answer (r, what);
  if (ctl->json != SBX_JSON_OFF)
    print_json (ctl, ok, answer);
  else
    print_answer (ok, answer);
  return ok ? SBX_EXIT_GOOD : SBX_EXIT_TURN_FAILED;
}
