/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Tells sandboxd of calls and refusals, since a locked-down process reaches no journal. Bounded: a guest can
 * make refusals by the thousand, so behind SBX_AUDIT_MAX_REFUSALS they are only counted. Calls that were
 * admitted are all told, whatever was refused before: the turn's budget is their bound.
 */
#pragma once

#include "wire/control.h"
#include "wire/frame-link.h"

#define SBX_AUDIT_MAX_REFUSALS 200u

typedef struct _SbxAudit SbxAudit;

/* control must outlive it. */
SbxAudit *sbx_audit_new (SbxFrameLink *control);
void sbx_audit_free (SbxAudit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxAudit, sbx_audit_free)

/* The turn begins. What a waiting worker was refused before belongs to no turn, and is neither told nor
 * counted. */
void sbx_audit_begin (SbxAudit *self);

/* Sends the entry, or counts it: a refusal behind the bound, and what sandboxd does not take in time. */
void sbx_audit_add_call (SbxAudit *self, const SbxControlAudit *entry);
void sbx_audit_add_refusal (SbxAudit *self, const SbxControlAudit *entry);

/* Sends the last entry that was only counted, with the number of those before it. The turn is over. */
void sbx_audit_flush (SbxAudit *self);
