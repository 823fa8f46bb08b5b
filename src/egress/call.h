/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One call to one endpoint with its retries, inside one span of time. */
#pragma once

#include <glib.h>

#include "egress/upstream.h"

typedef struct _SbxCall SbxCall;

typedef struct {
  SbxUpstreamRequest request; /* timeout_msec is the time for all tries */
  gboolean may_repeat;        /* egress/retry.h */
  void (*again) (
    gpointer user_data); /* before each further try, or NULL: what the pieces so far gave is void */
} SbxCallRequest;

/* retry_after_sec: set with SBX_FAILURE_RATE_LIMITED. Called once, from the loop; the call is gone
 * afterwards. */
typedef void (*SbxCallDone) (const SbxUpstreamResult *result, guint retry_after_sec, gpointer user_data);

SbxCall *
sbx_call_start (SbxUpstream *upstream, const SbxCallRequest *request, SbxCallDone done, gpointer user_data);

/* Ends it at once; done is not called. NULL is fine. */
void sbx_call_cancel (SbxCall *self);
