/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* purge */
#include "ctl/ctl.h"

/* sandboxd wipes one workspace at a time, each within two minutes. */
#define WAIT_SEC 600

SbxExit
sbx_verb_purge (SbxCtl *ctl, int n_words, char **words)
{
  static const char *const what = "delete what is stored of the channel";
  SbxExit status = SBX_EXIT_GOOD;
  g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "PurgeChannel", what, &status);
  g_autoptr (SbxMessage) reply = NULL;

  if (call == NULL)
    return status;
  reply = sbx_ctl_call (ctl, call, sd_bus_message_append (call, "s", words[1]), WAIT_SEC, what, &status);
  return reply != NULL ? SBX_EXIT_GOOD : status;
}
