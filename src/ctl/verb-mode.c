/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* on, off */
#include "ctl/ctl.h"

SbxExit
sbx_verb_on (SbxCtl *ctl, int n_words, char **words)
{
  return sbx_ctl_call_each (ctl, "SetChannelMode", words + 1, "on", "put the channel into the sandbox");
}

SbxExit
sbx_verb_off (SbxCtl *ctl, int n_words, char **words)
{
  return sbx_ctl_call_each (ctl, "SetChannelMode", words + 1, "off", "take the channel out of the sandbox");
}
