/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* on, off */
#include "ctl/ctl.h"

static SbxExit
set_mode (SbxCtl *ctl, char **words, const char *mode, const char *what)
{
  SbxExit status = SBX_EXIT_GOOD;

  for (guint i = 1; words[i] != NULL; i++)
    {
      SbxExit one = SBX_EXIT_GOOD;
      g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, "SetChannelMode", what, &one);
      g_autoptr (SbxMessage) reply = NULL;

      if (call == NULL)
        return one;
      reply = sbx_ctl_call (ctl, call, sd_bus_message_append (call, "ss", words[i], mode), 0, what, &one);
      /* The rest is still done: the first failure is the status. */
      if (reply == NULL && status == SBX_EXIT_GOOD)
        status = one;
    }
  return status;
}

SbxExit
sbx_verb_on (SbxCtl *ctl, int n_words, char **words)
{
  return set_mode (ctl, words, "on", "put the channel into the sandbox");
}

SbxExit
sbx_verb_off (SbxCtl *ctl, int n_words, char **words)
{
  return set_mode (ctl, words, "off", "take the channel out of the sandbox");
}
