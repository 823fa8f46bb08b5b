/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/turn-list.h"

static void
turn_free (gpointer data)
{
  SbxListedTurn *self = data;

  g_free (self->id);
  g_free (self->channel);
  g_free (self->state);
  g_free (self->waits_for);
  g_free (self);
}

static int
read_turns (SbxMessage *reply, GPtrArray *turns)
{
  const char *id, *channel, *state, *waits_for;
  guint64 accepted, since;
  guint32 uid;
  int r = sd_bus_message_enter_container (reply, 'a', "(sssutts)");

  if (r < 0)
    return r;
  while (
    (r = sd_bus_message_read (reply, "(sssutts)", &id, &channel, &state, &uid, &accepted, &since, &waits_for))
    > 0)
    {
      SbxListedTurn *turn = g_new0 (SbxListedTurn, 1);

      turn->id = g_strdup (id);
      turn->channel = g_strdup (channel);
      turn->state = g_strdup (state);
      turn->uid = uid;
      turn->accepted_usec = (gint64) MIN (accepted, (guint64) G_MAXINT64);
      turn->since_usec = (gint64) MIN (since, (guint64) G_MAXINT64);
      turn->waits_for = g_strdup (waits_for);
      g_ptr_array_add (turns, turn);
    }
  return r;
}

GPtrArray *
sbx_turn_list_get (SbxCtl *ctl, SbxExit *ret_exit)
{
  static const char *const what = "list the turns";
  g_autoptr (GPtrArray) turns = g_ptr_array_new_with_free_func (turn_free);
  g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "ListTurns", what, ret_exit);
  g_autoptr (SbxMessage) reply = NULL;
  int r;

  if (call == NULL)
    return NULL;
  reply = sbx_ctl_call (ctl, call, 0, 0, what, ret_exit);
  if (reply == NULL)
    return NULL;
  r = read_turns (reply, turns);
  if (r < 0)
    {
      *ret_exit = sbx_ctl_bad_answer (r, what);
      return NULL;
    }
  return g_steal_pointer (&turns);
}

static char *
age_text (gint64 from_usec)
{
  gint64 age_usec = g_get_real_time () - from_usec;

  return g_strdup_printf ("%.1fs", (double) MAX (age_usec, 0) / G_USEC_PER_SEC);
}

SbxTable *
sbx_turn_list_table (GPtrArray *turns)
{
  static const char *const headings[] = {
    "TURN", "CHANNEL", "STATE", "FOR", "WAITS-FOR", "UID", "AGE", NULL
  };
  SbxTable *table = sbx_table_new (headings);

  for (guint i = 0; i < turns->len; i++)
    {
      const SbxListedTurn *turn = turns->pdata[i];
      g_autofree char *since = age_text (turn->since_usec);
      g_autofree char *uid = g_strdup_printf ("%u", turn->uid);
      g_autofree char *age = age_text (turn->accepted_usec);

      sbx_table_add (table, (const char *const[]){ turn->id, turn->channel, turn->state, since,
                                                   turn->waits_for, uid, age, NULL });
    }
  return table;
}

static void
add_text (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, value);
}

static void
add_number (JsonBuilder *builder, const char *name, gint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

JsonNode *
sbx_turn_list_json (GPtrArray *turns)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < turns->len; i++)
    {
      const SbxListedTurn *turn = turns->pdata[i];

      json_builder_begin_object (builder);
      add_text (builder, "turn", turn->id);
      add_text (builder, "channel", turn->channel);
      add_text (builder, "state", turn->state);
      add_number (builder, "state_since_usec", turn->since_usec);
      add_text (builder, "waits_for", turn->waits_for);
      add_number (builder, "uid", turn->uid);
      add_number (builder, "accepted_usec", turn->accepted_usec);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  return json_builder_get_root (builder);
}
