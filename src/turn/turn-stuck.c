/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Every step of a turn has a limit of its own, so that none of this should ever happen. A channel that waits
 * for ever behind a fault of ours is worse than the fault. */
#include "base/log.h"
#include "turn/turn-private.h"

static void
say (const SbxTurn *self, gint64 usec)
{
  const SbxLogFields fields = { .turn = self->id,
                                .channel = self->request.channel,
                                .container = sbx_sandbox_container (self->sandbox),
                                .reason = "stuck" };

  sbx_log_event (SBX_LOG_ID_TURN_STUCK, LOG_ERR, &fields,
                 "Turn %s in %s has been %s for %" G_GINT64_FORMAT
                 " s, waiting for \"%s\", and is forced out; this is a fault in sandboxd",
                 self->id, self->request.channel, sbx_turn_state_name (self->state), usec / G_USEC_PER_SEC,
                 sbx_turn_waits_for (self));
}

void
sbx_turn_unstick (SbxTurn *self, gint64 now_usec)
{
  gint64 here_usec = now_usec - self->state_usec;

  if (sbx_turn_is_open (self))
    {
      gint64 worked_usec = self->usage.phase_usec[SBX_TURN_STATE_PREPARING] + here_usec;

      if (worked_usec < (gint64) self->deadline_usec + SBX_TURN_LATE_USEC)
        return;
      say (self, here_usec);
      sbx_turn_fail (self, SBX_FAILURE_DEADLINE, NULL);
    }
  else if (self->state == SBX_TURN_STATE_FINISHING && here_usec >= SBX_TURN_STUCK_USEC)
    {
      say (self, here_usec);
      sbx_sandbox_abandon (self->sandbox);
    }
}
