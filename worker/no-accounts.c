/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* No account has a name where the worker runs: the image has no passwd file.
 *
 * Only in the static program. GLib has g_get_user_name() and others in one object file with functions
 * that are needed, and the C library's own look-ups would bring its name service along, which loads shared
 * libraries. Nothing in the worker asks; these would answer.
 */
#include <errno.h>
#include <pwd.h>
#include <stddef.h>

struct passwd *
getpwuid (uid_t uid)
{
  errno = ENOENT;
  return NULL;
}

int
getpwuid_r (uid_t uid, struct passwd *resultbuf, char *buffer, size_t buflen, struct passwd **result)
{
  *result = NULL;
  return 0;
}

int
getpwnam_r (const char *name, struct passwd *resultbuf, char *buffer, size_t buflen, struct passwd **result)
{
  *result = NULL;
  return 0;
}
