/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* turns */
#include "ctl/ctl.h"

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

SbxExit
sbx_verb_turns (SbxCtl *ctl, int n_words, char **words)
{
  static const char *const what = "list the turns";
  static const char *const headings[] = { "TURN", "CHANNEL", "STATE", "UID", "AGE", NULL };
  SbxExit status = SBX_EXIT_GOOD;
  g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "ListTurns", what, &status);
  g_autoptr (SbxMessage) reply = NULL;
  g_autoptr (SbxTable) table = sbx_table_new (headings);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *text = NULL;
  int r;

  if (call == NULL)
    return status;
  reply = sbx_ctl_call (ctl, call, 0, 0, what, &status);
  if (reply == NULL)
    return status;
  json_builder_begin_array (builder);
  r = read_turns (reply, builder, table);
  if (r < 0)
    return sbx_ctl_bad_answer (r, what);
  json_builder_end_array (builder);

  root = json_builder_get_root (builder);
  if (ctl->json != SBX_JSON_OFF)
    text = sbx_json_text (root, ctl->json);
  else if (sbx_table_length (table) == 0)
    text = g_strdup (ctl->no_legend ? "" : "No turn runs or waits.\n");
  else
    text = sbx_table_text (table, !ctl->no_legend);
  g_print ("%s", text);
  return SBX_EXIT_GOOD;
}
