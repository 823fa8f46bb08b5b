/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/audit.h"

struct _SbxAudit {
  SbxFrameLink *control;
  guint n_sent;
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

void
sbx_audit_add (SbxAudit *self, const SbxControlAudit *entry)
{
  if (self->n_sent < SBX_AUDIT_MAX_ENTRIES && send_entry (self, entry, self->n_omitted))
    {
      self->n_sent++;
      self->n_omitted = 0;
      return;
    }
  self->last = *entry;
  if (self->n_omitted < G_MAXUINT32)
    self->n_omitted++;
}

void
sbx_audit_flush (SbxAudit *self)
{
  if (self->n_omitted > 0 && send_entry (self, &self->last, self->n_omitted - 1))
    self->n_omitted = 0;
}
