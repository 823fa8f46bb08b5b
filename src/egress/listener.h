/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The socket that systemd passes in: takes connections of one uid and of nobody else. */
#pragma once

#include <glib.h>
#include <sys/types.h>

#include "egress/grants.h"

typedef struct _SbxListener SbxListener;

/* fd: a listening Unix stream socket, the listener's from now on. grants must outlive it. */
SbxListener *sbx_listener_new (int fd, uid_t client, SbxGrants *grants);
void sbx_listener_free (SbxListener *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxListener, sbx_listener_free)
