/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/outcome.h"

void
sbx_outcome_clear (SbxOutcome *self)
{
  g_clear_pointer (&self->text, g_free);
  *self = (SbxOutcome){ .kind = SBX_OUTCOME_NONE };
}

SbxOutcomeKind
sbx_outcome_kind_of (SbxFailure failure)
{
  if (failure == SBX_FAILURE_CANCELLED)
    return SBX_OUTCOME_CANCELLED;
  if (failure == SBX_FAILURE_MODE_OFF || failure == SBX_FAILURE_DISK_LOW)
    return SBX_OUTCOME_REFUSED;
  return failure == SBX_FAILURE_DEADLINE ? SBX_OUTCOME_DEADLINE : SBX_OUTCOME_FAILED;
}

const char *
sbx_outcome_name (SbxOutcomeKind kind)
{
  static const char *const names[] = { "none", "replied", "failed", "cancelled", "deadline", "refused" };

  g_return_val_if_fail (kind <= _SBX_OUTCOME_LAST, "");

  return names[kind];
}
