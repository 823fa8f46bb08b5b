/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Who may do what on the private socket: every standing with every action. */
#include <sys/socket.h>
#include <unistd.h>

#include "base/names.h"
#include "daemon/rights.h"

static const struct {
  const char *action;
  gboolean bots;
} actions[] = {
  { "run-turn", TRUE },        { "cancel-turn", TRUE },    { "get-channel-mode", TRUE },
  { "list-turns", FALSE },     { "manage-turns", FALSE },  { "set-channel-mode", FALSE },
  { "start-fresh", FALSE },    { "purge-channel", FALSE }, { "reload", FALSE },
  { "something-else", FALSE },
};

static void
test_table (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (actions); i++)
    for (guint bits = 0; bits < 8; bits++)
      {
        SbxStanding standing = { (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0 };
        g_autofree char *action = g_strconcat (SBX_BUS_NAME ".", actions[i].action, NULL);
        gboolean wanted = standing.root || standing.operator_group || (standing.bot_group && actions[i].bots);

        g_assert_cmpint (sbx_rights_allow (&standing, action), ==, wanted);
      }
}

static void
test_socket (void)
{
  int pair[2];
  uid_t uid = 12345;
  SbxStanding standing;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  g_assert_true (sbx_rights_of_socket (pair[0], &uid, &standing));
  g_assert_cmpuint (uid, ==, geteuid ());
  g_assert_cmpint (standing.root, ==, geteuid () == 0);
  close (pair[0]);
  close (pair[1]);
  g_assert_false (sbx_rights_of_socket (STDIN_FILENO, &uid, &standing));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rights/table", test_table);
  g_test_add_func ("/rights/socket", test_socket);
  return g_test_run ();
}
