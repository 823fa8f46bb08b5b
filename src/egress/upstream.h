/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* One POST to one endpoint, over a pool of kept connections that all turns share.
 *
 * TLS is verified (by CAFile= alone where it is set), no redirect is followed, no proxy and no environment is
 * asked, the scheme is the configured URL's, the answer is bounded after decoding, and the socket is refused
 * where the endpoint's name led to an address that is not public (egress/address.h), unless the operator
 * allowed that or wrote the address. Nothing is tried again here (egress/call.h), not even by libcurl: once a
 * byte of the body was handed out, it may not be sent a second time. A kept connection on which something
 * came unasked is not used again.
 */
#pragma once

#include <glib.h>

#include "base/secret.h"
#include "config/endpoint.h"
#include "wire/failure.h"

typedef struct _SbxUpstream SbxUpstream;
typedef struct _SbxTransfer SbxTransfer;

/* The time that a call may take in all, with its retries. */
#define SBX_UPSTREAM_MAX_MSEC 60000u

SbxUpstream *sbx_upstream_new (void);
/* No transfer may be left. */
void sbx_upstream_free (SbxUpstream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxUpstream, sbx_upstream_free)

/* A piece of the answer. Returning FALSE ends the transfer as if the answer were whole. */
typedef gboolean (*SbxUpstreamPiece) (const char *content_type, const char *data, gsize n_bytes,
                                      gpointer user_data);

typedef struct {
  const SbxEndpoint *endpoint; /* must live until the transfer has ended */
  GBytes *body;
  SbxSecret *key; /* NULL: none */
  const char *accept;
  const char *const *headers; /* further "name: value" lines, or NULL */
  guint timeout_msec;
  SbxUpstreamPiece piece; /* or NULL */
} SbxUpstreamRequest;

typedef struct {
  SbxFailure failure; /* NONE: a 2xx status and the whole body */
  /* A fixed word for the journal: name, address, refused, connect, tls, timeout, cut, … */
  const char *detail;
  guint status;                /* 0 where there was no answer */
  gboolean connection_refused; /* nobody listened: nothing was sent */
  const char *retry_after;     /* headers, or NULL; borrowed for the call */
  const char *session;
  const char *body;
  gsize body_bytes;
} SbxUpstreamResult;

/* Called once, from the loop, never from within start or cancel. The transfer is gone afterwards. */
typedef void (*SbxUpstreamDone) (const SbxUpstreamResult *result, gpointer user_data);

/* Copies or references all of request but its endpoint. */
SbxTransfer *sbx_upstream_start (SbxUpstream *self, const SbxUpstreamRequest *request, SbxUpstreamDone done,
                                 gpointer user_data);

/* Ends it at once; done is not called. */
void sbx_transfer_cancel (SbxTransfer *self);
