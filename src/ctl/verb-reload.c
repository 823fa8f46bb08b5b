/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* reload */
#include "ctl/ctl.h"

SbxExit
sbx_verb_reload (SbxCtl *ctl, int n_words, char **words)
{
  static const char *const what = "read the configuration again";
  SbxExit status = SBX_EXIT_GOOD;
  g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "Reload", what, &status);
  g_autoptr (SbxMessage) reply = NULL;

  if (call == NULL)
    return status;
  reply = sbx_ctl_call (ctl, call, 0, 0, what, &status);
  return reply != NULL ? SBX_EXIT_GOOD : status;
}
