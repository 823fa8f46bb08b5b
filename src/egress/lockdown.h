/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What sandbox-egress takes from itself before it accepts its first connection.
 *
 * A syscall filter that refuses with EPERM: no exec, no new process, no ptrace, no executable memory, no file
 * opened for writing, no listening, sockets of AF_UNIX, AF_INET and AF_INET6 only. Landlock where the kernel
 * has it: files can be read below the paths given and nowhere else. EPERM and not death, since libraries try
 * things (netlink, terminals) and carry on without.
 */
#pragma once

#include <glib.h>

/* The filter as the kernel gets it. NULL with error set. */
GBytes *sbx_lockdown_filter (GError **error);

/* Loads what must not be looked for later: resolver modules. */
void sbx_lockdown_preload (void);

/* paths: files and directories, beside the libraries', certificates' and resolver's, that may be read from
 * now on; missing ones are passed over. *ret_landlock tells whether the kernel has Landlock. FALSE with error
 * set: not locked down. */
gboolean sbx_lockdown_apply (const char *const *paths, gboolean *ret_landlock, GError **error);

/* Whether the resolver's configuration was replaced since the lockdown by a file that may not be read: a
 * Landlock rule holds for the file that it named, and DHCP clients put new ones in its place. Only a new
 * start helps. */
gboolean sbx_lockdown_is_stale (void);
