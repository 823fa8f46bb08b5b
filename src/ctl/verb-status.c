/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* status: the service's own report, or the mode of one channel. */
#include "ctl/ctl.h"

#include <errno.h>

#include "ctl/turn-list.h"
#include "ctl/variant.h"

static SbxExit
channel_status (SbxCtl *ctl, const char *channel)
{
  static const char *const what = "see the channel's mode";
  static const char *const headings[] = { "CHANNEL", "MODE", NULL };
  SbxExit status = SBX_EXIT_GOOD;
  g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "GetChannelMode", what, &status);
  g_autoptr (SbxMessage) reply = NULL;
  g_autoptr (SbxTable) table = sbx_table_new (headings);
  const char *mode = NULL;
  int r;

  if (call == NULL)
    return status;
  reply = sbx_ctl_call (ctl, call, sd_bus_message_append (call, "s", channel), 0, what, &status);
  if (reply == NULL)
    return status;
  r = sd_bus_message_read (reply, "s", &mode);
  if (r < 0)
    return sbx_ctl_bad_answer (r, what);
  sbx_table_add (table, (const char *const[]){ channel, mode, NULL });
  sbx_ctl_print_table (ctl, table);
  return SBX_EXIT_GOOD;
}

/* "ok", or what is wrong with the part. */
static gboolean
all_well (JsonObject *object)
{
  static const char *const parts[] = { "docker", "image-state", "egress" };

  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    if (g_strcmp0 (json_object_get_string_member_with_default (object, parts[i], "ok"), "ok") != 0)
      return FALSE;
  return TRUE;
}

/* The service's own report, then the turns: how long they are in which state, and what they wait for. */
static void
print_status (SbxCtl *ctl, JsonNode *report, GPtrArray *turns)
{
  g_autofree char *text = NULL;
  g_autofree char *list = NULL;

  if (ctl->json != SBX_JSON_OFF)
    {
      json_object_set_member (json_node_get_object (report), "turns", sbx_turn_list_json (turns));
      text = sbx_json_text (report, ctl->json);
    }
  else
    text = sbx_variant_describe (json_node_get_object (report));
  if (ctl->json == SBX_JSON_OFF && turns->len > 0)
    {
      g_autoptr (SbxTable) table = sbx_turn_list_table (turns);

      list = sbx_table_text (table, !ctl->no_legend);
    }
  g_print ("%s%s%s", text, list != NULL ? "\n" : "", list != NULL ? list : "");
}

/* The members come with names of their own, and a newer service may have more of them: all are shown. */
static SbxExit
service_status (SbxCtl *ctl)
{
  static const char *const what = "see the state of the service";
  SbxExit status = SBX_EXIT_GOOD;
  g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "GetStatus", what, &status);
  g_autoptr (SbxMessage) reply = NULL;
  g_autoptr (GPtrArray) turns = NULL;
  g_autoptr (JsonNode) node = NULL;
  int r;

  if (call == NULL)
    return status;
  reply = sbx_ctl_call (ctl, call, 0, 0, what, &status);
  if (reply == NULL)
    return status;
  r = sbx_variant_to_json (reply, &node);
  if (r < 0 || !JSON_NODE_HOLDS_OBJECT (node))
    return sbx_ctl_bad_answer (r < 0 ? r : -EBADMSG, what);
  turns = sbx_turn_list_get (ctl, &status);
  if (turns == NULL)
    return status;
  print_status (ctl, node, turns);
  return all_well (json_node_get_object (node)) ? SBX_EXIT_GOOD : SBX_EXIT_FAILED;
}

SbxExit
sbx_verb_status (SbxCtl *ctl, int n_words, char **words)
{
  return n_words > 1 ? channel_status (ctl, words[1]) : service_status (ctl);
}
