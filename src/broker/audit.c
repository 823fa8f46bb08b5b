/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/audit.h"

struct _SbxAudit {
  SbxFrameLink *control;
  gboolean begun;
  guint64 n_refusals;   /* that were sent */
  guint32 n_omitted;    /* since the last entry that was sent */
  SbxControlAudit last; /* of them */
};

SbxAudit *
sbx_audit_new (SbxFrameLink *control)
{
  SbxAudit *self = g_new0 (SbxAudit, 1);

  self->control = control;
  return self;
}

void
sbx_audit_free (SbxAudit *self)
{
  g_free (self);
}

static gboolean
send_entry (SbxAudit *self, const SbxControlAudit *entry, guint32 n_omitted)
{
  SbxControlAudit sent = *entry;

  sent.omitted = n_omitted;
  return sbx_frame_link_send_packed (self->control, SBX_FRAME_AUDIT, 0, sbx_control_audit_encode (&sent),
                                     NULL);
}

/* Sends it, or counts it where the caller has no more room for it, or the link. */
static void
tell (SbxAudit *self, const SbxControlAudit *entry, gboolean has_room)
{
  if (has_room && send_entry (self, entry, self->n_omitted))
    {
      self->n_omitted = 0;
      return;
    }
  self->last = *entry;
  if (self->n_omitted < G_MAXUINT32)
    self->n_omitted++;
}

void
sbx_audit_begin (SbxAudit *self)
{
  self->begun = TRUE;
}

void
sbx_audit_add_call (SbxAudit *self, const SbxControlAudit *entry)
{
  if (self->begun)
    tell (self, entry, TRUE);
}

void
sbx_audit_add_refusal (SbxAudit *self, const SbxControlAudit *entry)
{
  if (self->begun)
    tell (self, entry, self->n_refusals++ < SBX_AUDIT_MAX_REFUSALS);
}

void
sbx_audit_flush (SbxAudit *self)
{
  if (self->n_omitted > 0 && send_entry (self, &self->last, self->n_omitted - 1))
    self->n_omitted = 0;
}
