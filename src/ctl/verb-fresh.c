/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* fresh */
#include "ctl/ctl.h"

SbxExit
sbx_verb_fresh (SbxCtl *ctl, int n_words, char **words)
{
  return sbx_ctl_call_each (ctl, "StartFresh", words + 1, NULL, "let the channel begin afresh");
}
