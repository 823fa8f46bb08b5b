/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the kernel did to a container for its limits, while its scope is there: processes killed for memory
 * (memory.events, cgroup v2) and processes not started for their number (pids.events, both versions).
 *
 * The scope goes with the container's last process, so the files are watched by inotify (the kernel's
 * cgroup-v2.rst: each change is a modify event). Cgroup v1 gives no event for pids.events (tried with Linux
 * 6.18), so there it is read five times a second; and Docker's own State.OOMKilled tells of memory.
 */
#pragma once

#include <glib.h>

typedef struct _SbxScopeEvents SbxScopeEvents;

/* cgroup_root: NULL for /sys/fs/cgroup. container: Docker's id, of a container in SBX_TURN_SLICE that has
 * been started. What cannot be watched is never seen. */
SbxScopeEvents *sbx_scope_events_new (const char *cgroup_root, const char *container);
void sbx_scope_events_free (SbxScopeEvents *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxScopeEvents, sbx_scope_events_free)

/* Up to now. NULL is fine, and saw nothing. */
gboolean sbx_scope_events_saw_oom (SbxScopeEvents *self);
gboolean sbx_scope_events_saw_pids (SbxScopeEvents *self);

/* Pure: whether the text of such a file says that name happened: "oom_kill 2". */
gboolean sbx_scope_events_says (const char *text, const char *name);
