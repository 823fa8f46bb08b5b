/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What `sandboxctl check` found, and the judgements that can be made without touching the host. Pure, but for
 * printing. */
#pragma once

#include <glib.h>
#include <sys/stat.h>

#include "ctl/table.h"

typedef enum {
  SBX_CHECK_OK,
  SBX_CHECK_WARNING,  /* works, but worth a look */
  SBX_CHECK_FAILED,   /* turns do not work so, or not safely */
  SBX_CHECK_NOT_MADE, /* for want of rights, or since something before it failed */
} SbxCheckResult;

typedef struct _SbxCheckList SbxCheckList;

/* Lines are printed as they come, unless json is on; then all at the end. */
SbxCheckList *sbx_check_list_new (SbxJsonMode json, gboolean color);
void sbx_check_list_free (SbxCheckList *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxCheckList, sbx_check_list_free)

/* name: one word. fix: what to do, as commands or lines of a file; NULL where there is nothing to do. */
void sbx_check_list_add (SbxCheckList *self, SbxCheckResult result, const char *name, const char *fix,
                         const char *format, ...) G_GNUC_PRINTF (5, 6);

/* How many have this result. */
guint sbx_check_list_count (const SbxCheckList *self, SbxCheckResult result);

/* The line of one finding, with its fix below it. The caller frees it. */
char *
sbx_check_line (SbxCheckResult result, const char *name, const char *text, const char *fix, gboolean color);

/* One array of {"check", "result", "text", "fix"}. */
char *sbx_check_list_json (const SbxCheckList *self);

/* --- judgements --- */

/* What is wrong with a key file of that uid, as the end of a sentence that begins with its path; NULL:
 * nothing. */
const char *sbx_check_key_fault (const struct stat *status, uid_t egress);

/* Whether a runc of that version has the fixes of 1.2.8 and 1.3.3 (CVE-2025-31133, -52565, -52881) by its
 * number alone. A distribution may have put them into an older one. */
gboolean sbx_check_runc_is_fixed (const char *version);

/* Whether a version, "20.10.24+dfsg1", is at least major.minor. */
gboolean sbx_check_version_at_least (const char *version, guint major, guint minor);

/* The options of the mounted file system with that device number, out of the text of /proc/self/mountinfo
 * (proc_pid_mountinfo(5)); NULL where there is none. The caller frees it. */
char *sbx_check_mount_options (const char *mountinfo, guint major, guint minor);
