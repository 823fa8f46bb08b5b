/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/rights.h"

#include <errno.h>
#include <grp.h>
#include <sys/socket.h>

#include "base/names.h"

/* NGROUPS_MAX of Linux (limits.h of the kernel). */
#define MAX_GROUPS 65536u

static const char *const bot_actions[] = {
  SBX_BUS_NAME ".cancel-turn",
  SBX_BUS_NAME ".get-channel-mode",
  SBX_BUS_NAME ".run-turn",
  NULL,
};

gboolean
sbx_rights_allow (const SbxStanding *standing, const char *action)
{
  if (standing->root || standing->operator_group)
    return TRUE;
  return standing->bot_group && g_strv_contains (bot_actions, action);
}

static gid_t *
read_groups (int fd, gsize *ret_n)
{
  socklen_t bytes = 64 * sizeof (gid_t);
  g_autofree gid_t *groups = g_malloc (bytes);

  while (getsockopt (fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) < 0)
    {
      /* The kernel has set the size that is needed. */
      if (errno != ERANGE || bytes > MAX_GROUPS * sizeof (gid_t))
        return NULL;
      groups = g_realloc (groups, bytes);
    }
  *ret_n = bytes / sizeof (gid_t);
  return g_steal_pointer (&groups);
}

static gboolean
is_member (const char *name, gid_t primary, const gid_t *groups, gsize n)
{
  const struct group *group = getgrnam (name);

  if (group == NULL)
    return FALSE;
  if (group->gr_gid == primary)
    return TRUE;
  for (gsize i = 0; i < n; i++)
    if (groups[i] == group->gr_gid)
      return TRUE;
  return FALSE;
}

gboolean
sbx_rights_of_socket (int fd, uid_t *ret_uid, SbxStanding *ret_standing)
{
  struct ucred peer;
  socklen_t bytes = sizeof peer;
  gsize n = 0;
  g_autofree gid_t *groups = NULL;

  if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
    return FALSE;
  groups = read_groups (fd, &n);
  if (groups == NULL)
    return FALSE;
  *ret_uid = peer.uid;
  *ret_standing = (SbxStanding){
    .root = peer.uid == 0,
    .operator_group = is_member (SBX_OPERATORS_GROUP, peer.gid, groups, n),
    .bot_group = is_member (SBX_BOTS_GROUP, peer.gid, groups, n),
  };
  return TRUE;
}
