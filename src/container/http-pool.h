/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Connections to dockerd that are open and idle, for the next calls. Used inside this room only.
 *
 * At most SBX_HTTP_POOL_MAX, each for SBX_HTTP_POOL_IDLE_MS; one that dockerd closes, or on which it says
 * anything unasked, is closed at once.
 */
#pragma once

#include <glib.h>

#define SBX_HTTP_POOL_MAX     4u
#define SBX_HTTP_POOL_IDLE_MS 5000u

typedef struct _SbxHttpPool SbxHttpPool;

SbxHttpPool *sbx_http_pool_new (void);
/* Closes all. NULL is fine. */
void sbx_http_pool_free (SbxHttpPool *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxHttpPool, sbx_http_pool_free)

/* One that is still good as far as this side knows, the caller's; -1 where there is none. */
int sbx_http_pool_take (SbxHttpPool *self);
/* Takes one whose last answer has been read to its end. */
void sbx_http_pool_give (SbxHttpPool *self, int fd);
