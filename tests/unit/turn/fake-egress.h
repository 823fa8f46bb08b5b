/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* An egress socket in the same process and main loop, that says yes or what it is told to say. */
#pragma once

#include <glib.h>

#include "wire/failure.h"

typedef struct _FakeEgress FakeEgress;

FakeEgress *fake_egress_new (void);
void fake_egress_free (FakeEgress *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FakeEgress, fake_egress_free)
const char *fake_egress_path (FakeEgress *self);

/* Answers from now on; SBX_FAILURE_NONE at first. SBX_FAILURE_INTERNAL: none at all, the connection is
 * closed. */
void fake_egress_answer_announce (FakeEgress *self, SbxFailure failure);
void fake_egress_answer_charge (FakeEgress *self, SbxFailure failure);
void fake_egress_answer_scan (FakeEgress *self, SbxFailure failure);

guint fake_egress_n_announced (FakeEgress *self);
guint fake_egress_n_charged (FakeEgress *self);
guint fake_egress_n_scanned (FakeEgress *self);
/* Connections that the other side has not ended. */
guint fake_egress_n_open (FakeEgress *self);
