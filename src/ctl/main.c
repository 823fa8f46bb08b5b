/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandboxctl: what an operator does with sandboxd. One file a verb (verb-*.c). */
#include <locale.h>

#include "base/names.h"
#include "ctl/ctl.h"
#include "sbx-config.h"

typedef struct {
  const char *name;
  int min_words; /* without the verb */
  int max_words;
  SbxVerbFunc run;
  const char *arguments;
  const char *help;
} Verb;

static const Verb verbs[] = {
  { "status", 0, 1, sbx_verb_status, "[CHANNEL]", "Whether the service works; or a channel's mode" },
  { "channels", 0, 0, sbx_verb_channels, "", "List the sandboxed channels" },
  { "on", 1, 64, sbx_verb_on, "CHANNEL…", "Put channels into the sandbox" },
  { "off", 1, 64, sbx_verb_off, "CHANNEL…", "Take channels out of the sandbox" },
  { "run", 1, G_MAXINT, sbx_verb_run, "CHANNEL [TEXT…|-]", "Run a turn and print its reply" },
  { "turns", 0, 0, sbx_verb_turns, "", "List the turns that run or wait" },
  { "cancel", 1, 64, sbx_verb_cancel, "TURN…", "End turns at once" },
  { "fresh", 1, 64, sbx_verb_fresh, "CHANNEL…",
    "Let channels forget their conversation, but not their notes" },
  { "stats", 0, 1, sbx_verb_stats, "[CHANNEL]", "What turns took since the service started" },
  { "log", 0, 1, sbx_verb_log, "[CHANNEL|TURN]", "Show the journal of the services, a channel or a turn" },
  { "tools", 0, 0, sbx_verb_tools, "", "List what a worker may call" },
  { "check", 0, 0, sbx_verb_check, "", "Find what is wrong here and say what to do; ends with a turn" },
  { "image", 1, 2, sbx_verb_image, "build|check [IMAGE]",
    "Make the worker's image, or compare it with what is installed; or test another" },
  { "reload", 0, 0, sbx_verb_reload, "", "Read the configuration again" },
  { "purge", 1, 1, sbx_verb_purge, "CHANNEL", "Delete all that is stored of a channel" },
  { "cleanup", 0, 0, sbx_verb_cleanup, "", "Remove what a dead sandboxd left (see --dry-run)" },
};

static SbxCtl ctl;

static gboolean
parse_json (const char *option, const char *value, gpointer data, GError **error)
{
  if (value == NULL || g_str_equal (value, "short"))
    ctl.json = SBX_JSON_SHORT;
  else if (g_str_equal (value, "pretty"))
    ctl.json = SBX_JSON_PRETTY;
  else if (g_str_equal (value, "off"))
    ctl.json = SBX_JSON_OFF;
  else
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--json= takes short, pretty or off, not \"%s\"", value);
      return FALSE;
    }
  return TRUE;
}

/* GOption would take the word after a bare "--json" for its value. */
static void
settle_bare_json (int argc, char **argv)
{
  for (int i = 1; i < argc && !g_str_equal (argv[i], "--"); i++)
    if (g_str_equal (argv[i], "--json"))
      argv[i] = (char *) "--json=short";
}

static char *
describe_verbs (void)
{
  GString *text = g_string_new ("Verbs:\n");

  for (gsize i = 0; i < G_N_ELEMENTS (verbs); i++)
    {
      g_autofree char *usage = g_strdup_printf ("%s %s", verbs[i].name, verbs[i].arguments);

      g_string_append_printf (text, "  %-26s%*s %s\n", usage,
                              (int) (strlen (usage) - (gsize) g_utf8_strlen (usage, -1)), "", verbs[i].help);
    }
  g_string_append (text, "\nsandboxctl(1) lists the exit statuses.");
  return g_string_free (text, FALSE);
}

static SbxExit
run_verb (int n_words, char **words)
{
  for (gsize i = 0; i < G_N_ELEMENTS (verbs); i++)
    {
      const Verb *verb = &verbs[i];

      if (!g_str_equal (verb->name, words[0]))
        continue;
      if (n_words - 1 >= verb->min_words && n_words - 1 <= verb->max_words)
        return verb->run (&ctl, n_words, words);
      g_printerr ("Usage: sandboxctl %s%s%s\n", verb->name, *verb->arguments != '\0' ? " " : "",
                  verb->arguments);
      return SBX_EXIT_USAGE;
    }
  g_printerr ("There is no verb \"%s\"; sandboxctl --help lists them.\n", words[0]);
  return SBX_EXIT_USAGE;
}

int
main (int argc, char **argv)
{
  gboolean show_version = FALSE, no_pager = FALSE;
  const GOptionEntry entries[] = {
    { "host", 'H', 0, G_OPTION_ARG_STRING, &ctl.host, "Work on another host, by ssh", "[USER@]HOST" },
    { "socket", 0, 0, G_OPTION_ARG_FILENAME, &ctl.socket,
      "Use sandboxd's private socket, not the bus (" SBX_PRIVATE_SOCKET ")", "PATH" },
    { "json", 0, 0, G_OPTION_ARG_CALLBACK, parse_json, "Print JSON: short (the usual), pretty, off", "MODE" },
    { "no-legend", 0, 0, G_OPTION_ARG_NONE, &ctl.no_legend, "No line of headings", NULL },
    { "no-pager", 0, 0, G_OPTION_ARG_NONE, &no_pager, "Taken for scripts' sake: nothing is paged", NULL },
    { "no-ask-password", 0, 0, G_OPTION_ARG_NONE, &ctl.no_ask_password, "Never let polkit ask a person",
      NULL },
    { "speaker-id", 0, 0, G_OPTION_ARG_STRING, &ctl.speaker_id, "run: who speaks (the usual: uid:UID)",
      "ID" },
    { "speaker-name", 0, 0, G_OPTION_ARG_STRING, &ctl.speaker_name,
      "run: the speaker's name (the usual: yours)", "NAME" },
    { "principal", 0, 0, G_OPTION_ARG_STRING, &ctl.principal, "run: whom host tools and the journal are told",
      "NAME" },
    { "timeout", 0, 0, G_OPTION_ARG_INT, &ctl.timeout_sec, "run: wait so long for the reply (3600)",
      "SECONDS" },
    { "lines", 'n', 0, G_OPTION_ARG_INT, &ctl.lines, "log: the newest N entries (1000)", "N" },
    { "since", 'S', 0, G_OPTION_ARG_STRING, &ctl.since, "log: nothing older, such as \"2h ago\", \"today\"",
      "TIME" },
    { "until", 'U', 0, G_OPTION_ARG_STRING, &ctl.until, "log: nothing newer", "TIME" },
    { "follow", 'f', 0, G_OPTION_ARG_NONE, &ctl.follow, "log: go on as entries come", NULL },
    { "watch", 'w', 0, G_OPTION_ARG_NONE, &ctl.watch, "turns: show them again at each change", NULL },
    { "no-turn", 0, 0, G_OPTION_ARG_NONE, &ctl.no_turn, "check: run no turn at the end", NULL },
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &ctl.dry_run, "cleanup: only tell what would be removed", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &show_version, "Print the version and exit", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) options = g_option_context_new ("VERB …");
  g_autoptr (GError) error = NULL;
  g_autofree char *description = describe_verbs ();
  SbxExit status;

  (void) setlocale (LC_ALL, "");
  g_option_context_add_main_entries (options, entries, NULL);
  g_option_context_set_description (options, description);
  settle_bare_json (argc, argv);
  if (!g_option_context_parse (options, &argc, &argv, &error))
    {
      g_printerr ("sandboxctl: %s\n", error->message);
      return SBX_EXIT_USAGE;
    }
  if (ctl.host != NULL && ctl.socket != NULL)
    {
      g_printerr ("--host and --socket are two ways to sandboxd: use one.\n");
      return SBX_EXIT_USAGE;
    }
  if (show_version)
    {
      g_print ("sandboxctl %s\n", SBX_VERSION);
      return SBX_EXIT_GOOD;
    }
  /* An "--" before a guest's text stays in the words. */
  if (argc > 1 && g_str_equal (argv[1], "--"))
    argc--, argv++;
  if (argc < 2)
    {
      char *alone[] = { (char *) "status", NULL };

      status = sbx_verb_status (&ctl, 1, alone);
    }
  else
    status = run_verb (argc - 1, argv + 1);
  sd_bus_flush_close_unref (ctl.bus);
  sbx_agent_free (ctl.agent);
  return (int) status;
}
