/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A descriptor of a container's process (pidfd_open(2)), by which its end is known at once; Docker tells of
 * it tens of milliseconds later.
 */
#pragma once

/* cgroup_root: NULL for /sys/fs/cgroup. container: Docker's id, of a container in SBX_TURN_SLICE that has
 * been started. A descriptor that is readable once the process has ended (the caller's), or -1 where it
 * cannot be found. */
int sbx_scope_process_open (const char *cgroup_root, const char *container);
