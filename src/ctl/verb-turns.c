/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* turns */
#include "ctl/ctl.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/names.h"

typedef struct {
  const char *id;
  const char *channel;
  const char *state;
  guint32 uid;
  guint64 since_usec;
} Turn;

static void
add_json (JsonBuilder *builder, const Turn *turn)
{
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "turn");
  json_builder_add_string_value (builder, turn->id);
  json_builder_set_member_name (builder, "channel");
  json_builder_add_string_value (builder, turn->channel);
  json_builder_set_member_name (builder, "state");
  json_builder_add_string_value (builder, turn->state);
  json_builder_set_member_name (builder, "uid");
  json_builder_add_int_value (builder, turn->uid);
  json_builder_set_member_name (builder, "since_usec");
  json_builder_add_int_value (builder, (gint64) MIN (turn->since_usec, (guint64) G_MAXINT64));
  json_builder_end_object (builder);
}

static void
add_row (SbxTable *table, const Turn *turn)
{
  gint64 age_usec = g_get_real_time () - (gint64) MIN (turn->since_usec, (guint64) G_MAXINT64);
  g_autofree char *uid = g_strdup_printf ("%u", turn->uid);
  g_autofree char *age = g_strdup_printf ("%.1fs", (double) MAX (age_usec, 0) / G_USEC_PER_SEC);

  sbx_table_add (table, (const char *const[]){ turn->id, turn->channel, turn->state, uid, age, NULL });
}

static int
read_turns (SbxMessage *reply, JsonBuilder *builder, SbxTable *table)
{
  Turn turn;
  int r = sd_bus_message_enter_container (reply, 'a', "(sssut)");

  if (r < 0)
    return r;
  while ((r = sd_bus_message_read (reply, "(sssut)", &turn.id, &turn.channel, &turn.state, &turn.uid,
                                   &turn.since_usec))
         > 0)
    {
      add_json (builder, &turn);
      add_row (table, &turn);
    }
  return r;
}

/* The list as it is now; NULL, and said, where it cannot be had. Ages change with time, so a watcher that
 * compares leaves them out. */
static char *
list_turns (SbxCtl *ctl, SbxExit *ret_exit)
{
  static const char *const what = "list the turns";
  static const char *const headings[] = { "TURN", "CHANNEL", "STATE", "UID", "AGE", NULL };
  g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "ListTurns", what, ret_exit);
  g_autoptr (SbxMessage) reply = NULL;
  g_autoptr (SbxTable) table = sbx_table_new (headings);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  int r;

  if (call == NULL)
    return NULL;
  reply = sbx_ctl_call (ctl, call, 0, 0, what, ret_exit);
  if (reply == NULL)
    return NULL;
  json_builder_begin_array (builder);
  r = read_turns (reply, builder, table);
  if (r < 0)
    {
      *ret_exit = sbx_ctl_bad_answer (r, what);
      return NULL;
    }
  json_builder_end_array (builder);

  root = json_builder_get_root (builder);
  if (ctl->json != SBX_JSON_OFF)
    return sbx_json_text (root, ctl->json);
  if (sbx_table_length (table) == 0)
    return g_strdup (ctl->no_legend ? "" : "No turn runs or waits.\n");
  return sbx_table_text (table, !ctl->no_legend);
}

static int
on_signal (sd_bus_message *message, void *userdata, sd_bus_error *error)
{
  gboolean *changed = userdata;

  *changed = TRUE;
  return 0;
}

/* Shows the list again at each signal of the service, and on a terminal each second, since ages grow. Ends
 * with the bus or by a signal to this process. */
static SbxExit
watch (SbxCtl *ctl)
{
  gboolean terminal = isatty (STDOUT_FILENO) && ctl->json == SBX_JSON_OFF;
  g_autofree char *last = NULL;
  gboolean changed = TRUE;
  SbxExit status = SBX_EXIT_GOOD;
  int r = sbx_ctl_connect (ctl, "watch the turns", &status);

  if (r < 0)
    return status;
  r = sd_bus_match_signal (ctl->bus, NULL, ctl->socket == NULL ? SBX_BUS_NAME : NULL, NULL, NULL, NULL,
                           on_signal, &changed);
  while (r >= 0)
    {
      g_autofree char *text = changed ? list_turns (ctl, &status) : NULL;

      if (changed && text == NULL)
        return status;
      changed = FALSE;
      if (text != NULL && (terminal || g_strcmp0 (text, last) != 0))
        {
          g_print ("%s%s", terminal ? "\033[H\033[2J" : "", text);
          (void) fflush (stdout);
          g_free (last);
          last = g_steal_pointer (&text);
        }
      /* What came while the list was asked for is processed first. */
      while ((r = sd_bus_process (ctl->bus, NULL)) > 0)
        continue;
      if (r == 0 && !changed)
        {
          r = sd_bus_wait (ctl->bus, terminal ? G_USEC_PER_SEC : UINT64_MAX);
          changed = r == 0 && terminal;
        }
      if (r == -EINTR)
        r = 0;
    }
  g_printerr ("The bus was lost: %s\n", g_strerror (-r));
  return SBX_EXIT_DOWN;
}

SbxExit
sbx_verb_turns (SbxCtl *ctl, int n_words, char **words)
{
  SbxExit status = SBX_EXIT_GOOD;
  g_autofree char *text = NULL;

  if (ctl->watch)
    return watch (ctl);
  text = list_turns (ctl, &status);
  if (text != NULL)
    g_print ("%s", text);
  return status;
}
