/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The endpoints of one configuration with their keys: made whole or not at all, replaced as a whole by a
 * reload. A turn keeps the one that it began with.
 */
#pragma once

#include <glib.h>

#include "config/settings.h"
#include "egress/credential.h"
#include "egress/reflection.h"

/* What is known of an MCP server's session; see egress/mcp.h. */
typedef struct {
  gboolean initialized;
  char *session; /* NULL where the server gives none */
  char *version;
  guint last_id;
} SbxMcpState;

typedef struct {
  const char *name; /* for the journal: "model" or the MCP server's name */
  const SbxEndpoint *endpoint;
  const SbxMcpServer *server; /* NULL for the model */
  SbxCredential *credential;  /* NULL: calls carry no key */
  SbxMcpState state;
  gboolean key_was_bad; /* so that a bad file is told once, not at each call */
} SbxTarget;

typedef struct _SbxEndpoints SbxEndpoints;

/* Reads the configuration below root (NULL: the real one), no keys. NULL with error set (SBX_CONFIG_ERROR).
 */
SbxEndpoints *sbx_endpoints_load (const char *root, GPtrArray *warnings, GError **error);
SbxEndpoints *sbx_endpoints_ref (SbxEndpoints *self);
void sbx_endpoints_unref (SbxEndpoints *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxEndpoints, sbx_endpoints_unref)

const SbxConfig *sbx_endpoints_config (SbxEndpoints *self);
/* NULL where no URL is configured. Borrowed. */
SbxTarget *sbx_endpoints_model (SbxEndpoints *self);
/* NULL where there is no such server. */
SbxTarget *sbx_endpoints_server (SbxEndpoints *self, const char *name);

/* The target's key as its file has it now, as a new reference, or NULL where it needs none. FALSE, and an
 * entry in the journal, where it cannot be had. */
gboolean sbx_target_take_key (SbxTarget *self, SbxSecret **ret_key);

/* Looks for all live keys: of every endpoint, as the files have them now and had them before their last
 * change. Borrowed until the next call. */
const SbxReflection *sbx_endpoints_reflection (SbxEndpoints *self);

/* Looks at every key file and adds what is wrong, for a person. FALSE: a key cannot be had; calls that need
 * it will fail until it can. */
gboolean sbx_endpoints_check_keys (SbxEndpoints *self, GPtrArray *complaints);

/* Paths that the process must be able to read later, for its lockdown: key files and CA files. Free the
 * array. */
GPtrArray *sbx_endpoints_paths (SbxEndpoints *self);
