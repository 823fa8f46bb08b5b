/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* cancel */
#include "ctl/ctl.h"

SbxExit
sbx_verb_cancel (SbxCtl *ctl, int n_words, char **words)
{
  return sbx_ctl_call_each (ctl, "CancelTurn", words + 1, NULL, "cancel the turn");
}
