/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* check: what is wrong with this installation, and what to do about it. */

#include "ctl/check.h"

SbxExit
sbx_verb_check (SbxCtl *ctl, int n_words, char **words)
{
  g_autoptr (SbxCheckList) list = sbx_check_list_new (ctl->json, sbx_ctl_has_color ());
  g_autoptr (SbxConfig) config = NULL;
  gboolean answers;

  if (ctl->host != NULL)
    {
      g_printerr ("It looks at files and sockets of its own host: ssh %s sandboxctl check\n", ctl->host);
      return SBX_EXIT_USAGE;
    }
  if (ctl->socket != NULL)
    {
      g_printerr ("It asks systemd and polkit too, on the system bus: leave out --socket.\n");
      return SBX_EXIT_USAGE;
    }
  config = sbx_check_config (list);
  sbx_check_users (list);
  sbx_check_tools (list);
  if (config != NULL)
    {
      sbx_check_keys (list, config);
      sbx_check_endpoints (list, config);
      sbx_check_disk (list, config);
      sbx_check_docker (list, config);
    }
  answers = sbx_check_service (list, ctl);
  if (ctl->no_turn)
    sbx_check_list_add (list, SBX_CHECK_NOT_MADE, "turn", NULL, "no turn was wanted (--no-turn)");
  else if (!answers || sbx_check_list_count (list, SBX_CHECK_FAILED) > 0)
    sbx_check_list_add (list, SBX_CHECK_NOT_MADE, "turn", NULL, "a turn is tried when all before it is well");
  else
    sbx_check_turn (list, ctl);

  if (ctl->json != SBX_JSON_OFF)
    {
      g_autofree char *json = sbx_check_list_json (list);

      g_print ("%s", json);
    }
  return sbx_check_list_count (list, SBX_CHECK_FAILED) == 0 ? SBX_EXIT_GOOD : SBX_EXIT_FAILED;
}
