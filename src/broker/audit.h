/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Tells sandboxd of calls and refusals, since a locked-down process reaches no journal. Bounded: a guest can
 * make refusals by the thousand, so behind SBX_AUDIT_MAX_ENTRIES they are only counted.
 */
#pragma once

#include "wire/control.h"
#include "wire/frame-link.h"

#define SBX_AUDIT_MAX_ENTRIES 200u

typedef struct _SbxAudit SbxAudit;

/* control must outlive it. */
SbxAudit *sbx_audit_new (SbxFrameLink *control);
void sbx_audit_free (SbxAudit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxAudit, sbx_audit_free)

/* Sends the entry, or counts it. One that sandboxd does not take in time is counted too. */
void sbx_audit_add (SbxAudit *self, const SbxControlAudit *entry);

/* Sends the last entry that was only counted, with the number of those before it. The turn is over. */
void sbx_audit_flush (SbxAudit *self);
