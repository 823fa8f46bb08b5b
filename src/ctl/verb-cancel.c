/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* cancel */
#include "ctl/ctl.h"

SbxExit
sbx_verb_cancel (SbxCtl *ctl, int n_words, char **words)
{
  static const char *const what = "cancel the turn";
  SbxExit status = SBX_EXIT_GOOD;

  for (guint i = 1; words[i] != NULL; i++)
    {
      SbxExit one = SBX_EXIT_GOOD;
      g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "CancelTurn", what, &one);
      g_autoptr (SbxMessage) reply = NULL;

      if (call == NULL)
        return one;
      reply = sbx_ctl_call (ctl, call, sd_bus_message_append (call, "s", words[i]), 0, what, &one);
      if (reply == NULL && status == SBX_EXIT_GOOD)
        status = one;
    }
  return status;
}
