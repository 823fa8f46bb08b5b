/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Who may do what on the private socket, where no polkit is asked: by the uid and the groups that the kernel
 * noted when the caller connected (unix(7), SO_PEERCRED and SO_PEERGROUPS).
 *
 * root may do everything, and so may members of SBX_OPERATORS_GROUP. Members of SBX_BOTS_GROUP may do what a
 * bot needs: run and cancel turns of their own, and see a channel's mode.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef struct {
  gboolean root;
  gboolean operator_group;
  gboolean bot_group;
} SbxStanding;

/* Pure. action is one of our polkit actions; an unknown one is nobody's but root's and operators'. */
gboolean sbx_rights_allow (const SbxStanding *standing, const char *action);

/* The uid and the standing of the peer of a connected Unix socket. FALSE when the kernel does not tell. */
gboolean sbx_rights_of_socket (int fd, uid_t *ret_uid, SbxStanding *ret_standing);
