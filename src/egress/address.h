/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Which addresses a name may lead to. Pure.
 *
 * A name that the operator wrote is resolved by somebody else: its answer must not turn a call with a key
 * into one to a machine of the operator's own network or to a cloud's metadata service.
 */
#pragma once

#include <glib.h>
#include <sys/socket.h>

/* Whether address is an ordinary one of the public network: not loopback, private, link-local, shared
 * (100.64/10), unspecified, multicast or reserved, also inside IPv6's forms of IPv4 addresses (mapped, NAT64,
 * 6to4). Another family than IPv4 and IPv6 is not. */
gboolean sbx_address_is_public (const struct sockaddr *address, socklen_t n_bytes);
