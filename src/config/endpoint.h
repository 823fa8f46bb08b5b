/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* An endpoint that the operator named: where calls may go and how they are authorised. Pure. */
#pragma once

#include <glib.h>

typedef struct {
  char *url;      /* as configured */
  char *key_file; /* empty: calls carry no key */
  char *ca_file;  /* empty: the system's certificates */
  char *auth_header;
  char *auth_prefix;      /* empty: the key alone */
  gboolean allow_private; /* DNS may give private, loopback and link-local addresses */
  gboolean plain_http;    /* http to a loopback host is allowed */
} SbxEndpoint;

SbxEndpoint *sbx_endpoint_new (void); /* empty texts, Authorization and Bearer */
void sbx_endpoint_free (SbxEndpoint *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxEndpoint, sbx_endpoint_free)

/* https, a host, no user, password or fragment; http only with plain_http and a loopback address or
 * "localhost" as its host. Returns NULL when url is right, else what is wrong with it, as the end of a
 * sentence. Never repeats the url: operators put keys into queries. */
const char *sbx_endpoint_url_fault (const char *url, gboolean plain_http);

/* The host of a right URL, without brackets. Free with g_free(). */
char *sbx_endpoint_host (const char *url);

/* Whether the host of url is a literal address, which counts as the operator's own word that it may be
 * private. */
gboolean sbx_endpoint_names_address (const char *url);

/* An absolute path without `..`, for keys, certificates and sockets. */
gboolean sbx_path_is_clean (const char *path);

/* An HTTP field name (RFC 9110 token) that is not one of those the transport owns (host, content-length, …).
 */
gboolean sbx_header_name_is_right (const char *name);
