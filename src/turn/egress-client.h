/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandboxd's side of the egress socket: one service connection for the whole daemon, and a connection for
 * each turn.
 *
 * The service connection is made when it is first needed, and again with a growing pause after it broke, so
 * that a missing egress costs the callers an answer at once and the machine nothing. Every question has a
 * deadline. Outcomes are values, since every caller has to tell them apart: SBX_FAILURE_EGRESS_DOWN stands
 * for no connection, a broken one and no answer in time; SBX_FAILURE_CANCELLED for the caller's own
 * cancellable.
 */
#pragma once

#include <gio/gio.h>

#include "wire/grant.h"

typedef struct _SbxEgressClient SbxEgressClient;

/* socket_path is copied. Nothing is connected yet. */
SbxEgressClient *sbx_egress_client_new (const char *socket_path);
/* Answers what is waiting with SBX_FAILURE_EGRESS_DOWN. NULL is fine. */
void sbx_egress_client_free (SbxEgressClient *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxEgressClient, sbx_egress_client_free)

/* Takes one call off the turn's budget: _NONE or _BUDGET_SPENT. */
void sbx_egress_client_charge_async (SbxEgressClient *self, const char *turn, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data);
SbxFailure sbx_egress_client_charge_finish (GAsyncResult *result);

/* Searches text for every live key: _NONE or _KEY_REFLECTED. */
void sbx_egress_client_scan_async (SbxEgressClient *self, GBytes *text, GCancellable *cancellable,
                                   GAsyncReadyCallback callback, gpointer user_data);
SbxFailure sbx_egress_client_scan_finish (GAsyncResult *result);

/* Has the egress read its configuration again. _NONE, or _INTERNAL with *ret_complaint (for a person;
 * g_free()) when the egress keeps the old one. ret_complaint may be NULL. */
void sbx_egress_client_reload_async (SbxEgressClient *self, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data);
SbxFailure sbx_egress_client_reload_finish (GAsyncResult *result, char **ret_complaint);

/* Connects the service connection where it is not, and tells whether it stands: _NONE or _EGRESS_DOWN. */
void sbx_egress_client_probe_async (SbxEgressClient *self, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data);
SbxFailure sbx_egress_client_probe_finish (GAsyncResult *result);

/* Announces a turn on a connection of its own. The finish gives the descriptor, which is the turn's right to
 * call out and the caller's to close, or -1 with *ret_failure set. */
void
sbx_egress_client_announce_async (SbxEgressClient *self, const SbxGrant *grant, GCancellable *cancellable,
                                  GAsyncReadyCallback callback, gpointer user_data);
int sbx_egress_client_announce_finish (GAsyncResult *result, SbxFailure *ret_failure);
