/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* channels */
#include "ctl/ctl.h"

#include "ctl/turn-list.h"

typedef struct {
  guint running;
  guint queued;
} Counts;

/* Channel -> Counts; keys are borrowed from turns. */
static GHashTable *
count_turns (GPtrArray *turns)
{
  GHashTable *counts = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

  for (guint i = 0; i < turns->len; i++)
    {
      const SbxListedTurn *turn = turns->pdata[i];
      Counts *of_channel = g_hash_table_lookup (counts, turn->channel);

      if (of_channel == NULL)
        {
          of_channel = g_new0 (Counts, 1);
          g_hash_table_insert (counts, turn->channel, of_channel);
        }
      if (g_str_equal (turn->state, "queued"))
        of_channel->queued++;
      else
        of_channel->running++;
    }
  return counts;
}

static void
add_json (JsonBuilder *builder, const char *channel, const Counts *counts)
{
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "channel");
  json_builder_add_string_value (builder, channel);
  json_builder_set_member_name (builder, "running");
  json_builder_add_int_value (builder, counts->running);
  json_builder_set_member_name (builder, "queued");
  json_builder_add_int_value (builder, counts->queued);
  json_builder_end_object (builder);
}

static void
add_row (SbxTable *table, const char *channel, const Counts *counts)
{
  g_autofree char *running = g_strdup_printf ("%u", counts->running);
  g_autofree char *queued = g_strdup_printf ("%u", counts->queued);

  sbx_table_add (table, (const char *const[]){ channel, running, queued, NULL });
}

static int
read_channels (SbxMessage *reply, GHashTable *counts, JsonBuilder *builder, SbxTable *table)
{
  static const Counts none = { 0 };
  const char *channel;
  int r = sd_bus_message_enter_container (reply, 'a', "s");

  while (r >= 0 && (r = sd_bus_message_read (reply, "s", &channel)) > 0)
    {
      const Counts *of_channel = g_hash_table_lookup (counts, channel);

      add_json (builder, channel, of_channel != NULL ? of_channel : &none);
      add_row (table, channel, of_channel != NULL ? of_channel : &none);
    }
  return r;
}

SbxExit
sbx_verb_channels (SbxCtl *ctl, int n_words, char **words)
{
  static const char *const what = "list the channels";
  static const char *const headings[] = { "CHANNEL", "RUNNING", "QUEUED", NULL };
  SbxExit status = SBX_EXIT_GOOD;
  g_autoptr (GPtrArray) turns = sbx_turn_list_get (ctl, &status);
  g_autoptr (GHashTable) counts = turns != NULL ? count_turns (turns) : NULL;
  g_autoptr (SbxMessage) call = turns != NULL ? sbx_ctl_call_new (ctl, "ListChannels", what, &status) : NULL;
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
  r = read_channels (reply, counts, builder, table);
  if (r < 0)
    return sbx_ctl_bad_answer (r, what);
  json_builder_end_array (builder);
  root = json_builder_get_root (builder);
  if (ctl->json != SBX_JSON_OFF)
    text = sbx_json_text (root, ctl->json);
  else if (sbx_table_length (table) == 0)
    text = g_strdup (ctl->no_legend ? "" : "No channel is sandboxed.\n");
  else
    text = sbx_table_text (table, !ctl->no_legend);
  g_print ("%s", text);
  return SBX_EXIT_GOOD;
}
