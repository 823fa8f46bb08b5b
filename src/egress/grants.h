/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Everybody who is connected: turns' grants and sandboxd's service connections. */
#pragma once

#include <glib.h>

#include "egress/endpoints.h"
#include "egress/upstream.h"

#define SBX_MAX_GRANTS              256u
#define SBX_MAX_SERVICE_CONNECTIONS 8u

typedef struct _SbxGrants SbxGrants;

/* Reads the configuration again. NULL: the old one stays, with *ret_complaint for a person. */
typedef SbxEndpoints *(*SbxGrantsReload) (char **ret_complaint, gpointer user_data);

SbxGrants *
sbx_grants_new (SbxUpstream *upstream, SbxEndpoints *endpoints, SbxGrantsReload reload, gpointer user_data);
/* Ends every connection and call. NULL is fine. */
void sbx_grants_free (SbxGrants *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxGrants, sbx_grants_free)

/* Takes a connected socket of the client's, whose uid has been checked. */
void sbx_grants_take (SbxGrants *self, int fd);

/* What a RELOAD frame does, for SIGHUP. */
gboolean sbx_grants_reload (SbxGrants *self, char **ret_complaint);

/* Whether no turn has a grant now. */
gboolean sbx_grants_is_idle (SbxGrants *self);
