/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* stats: what turns took since the service started. */
#include "ctl/ctl.h"

#include <errno.h>

#include "base/json-member.h"
#include "ctl/variant.h"

static gint64
number (JsonObject *object, const char *name)
{
  return json_object_get_int_member_with_default (object, name, 0);
}

static void
add_number (SbxTable *table, const char *name, gint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  sbx_table_add (table, (const char *const[]){ name, text, NULL });
}

/* One row a member: "PREFIX NAME", its number. */
static gint64
add_numbers (SbxTable *table, JsonObject *object, const char *prefix)
{
  g_autoptr (GList) names =
    object != NULL ? g_list_sort (json_object_get_members (object), (GCompareFunc) g_strcmp0) : NULL;
  gint64 sum = 0;

  for (const GList *item = names; item != NULL; item = item->next)
    {
      g_autofree char *name = g_strconcat (prefix, item->data, NULL);

      add_number (table, name, number (object, item->data));
      sum += number (object, item->data);
    }
  return sum;
}

static void
add_phase (SbxTable *table, JsonObject *phases, const char *name, gint64 n_turns)
{
  JsonObject *phase = sbx_json_member_object (phases, name);
  g_autofree char *heading = g_strdup_printf ("%s: mean, longest", name);
  g_autofree char *text = NULL;

  if (phase == NULL)
    return;
  text = g_strdup_printf ("%.3fs, %.3fs",
                          n_turns > 0 ? (double) number (phase, "sum-msec") / 1000 / (double) n_turns : 0.0,
                          (double) number (phase, "longest-msec") / 1000);
  sbx_table_add (table, (const char *const[]){ heading, text, NULL });
}

/* In the order in which a person asks. */
static SbxTable *
describe (JsonObject *object)
{
  static const char *const headings[] = { "WHAT", "VALUE", NULL };
  static const char *const phases[] = { "queued", "preparing", "running", "finishing" };
  static const char *const figures[] = { "calls",        "calls-refused", "request-bytes",
                                         "answer-bytes", "prompt-tokens", "answer-tokens" };
  SbxTable *table = sbx_table_new (headings);
  gint64 n_turns = add_numbers (table, sbx_json_member_object (object, "outcomes"), "turns ");

  (void) add_numbers (table, sbx_json_member_object (object, "reasons"), "without a reply: ");
  if (json_object_has_member (object, "not-taken"))
    add_number (table, "turns not taken", number (object, "not-taken"));
  for (gsize i = 0; i < G_N_ELEMENTS (phases); i++)
    add_phase (table, sbx_json_member_object (object, "phases"), phases[i], n_turns);
  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    add_number (table, figures[i], number (object, figures[i]));
  return table;
}

SbxExit
sbx_verb_stats (SbxCtl *ctl, int n_words, char **words)
{
  static const char *const what = "see what turns took";
  SbxExit status = SBX_EXIT_GOOD;
  g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "GetStatistics", what, &status);
  g_autoptr (SbxMessage) reply = NULL;
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (SbxTable) table = NULL;
  g_autofree char *text = NULL;
  int r;

  if (call == NULL)
    return status;
  r = sd_bus_message_append (call, "s", n_words > 1 ? words[1] : "");
  reply = sbx_ctl_call (ctl, call, r, 0, what, &status);
  if (reply == NULL)
    return status;
  r = sbx_variant_to_json (reply, &node);
  if (r < 0 || !JSON_NODE_HOLDS_OBJECT (node))
    return sbx_ctl_bad_answer (r < 0 ? r : -EBADMSG, what);
  table = describe (json_node_get_object (node));
  text =
    ctl->json != SBX_JSON_OFF ? sbx_json_text (node, ctl->json) : sbx_table_text (table, !ctl->no_legend);
  g_print ("%s", text);
  return SBX_EXIT_GOOD;
}
