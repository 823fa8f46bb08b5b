/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/variant.h"

#include <sys/socket.h>

#include "base/fd.h"
#include "ctl/table.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sd_bus, sd_bus_close_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (sd_bus_message, sd_bus_message_unref)

/* A message needs a connection, if only one to nobody. */
static sd_bus_message *
new_message (sd_bus **ret_bus, SbxFd *ret_peer)
{
  sd_bus_message *message = NULL;
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  *ret_peer = fds[1];
  g_assert_cmpint (sd_bus_new (ret_bus), >=, 0);
  g_assert_cmpint (sd_bus_set_fd (*ret_bus, fds[0], fds[0]), >=, 0);
  g_assert_cmpint (sd_bus_start (*ret_bus), >=, 0);
  g_assert_cmpint (sd_bus_message_new_method_call (*ret_bus, &message, "a.b", "/a", "a.b", "C"), >=, 0);
  return message;
}

static void
test_read (void)
{
  g_autoptr (sd_bus) bus = NULL;
  g_auto (SbxFd) peer = -1;
  g_autoptr (sd_bus_message) message = new_message (&bus, &peer);
  g_autoptr (JsonNode) node = NULL;
  g_autofree char *json = NULL;
  g_autofree char *text = NULL;

  g_assert_cmpint (sd_bus_message_append (message, "a{sv}", 5, "Version", "s", "0.1", "DockerReachable", "b",
                                          1, "Turns", "u", 3u, "Names", "as", 2, "a", "b", "Sums", "a{st}", 1,
                                          "calls", (guint64) 7),
                   >=, 0);
  g_assert_cmpint (sd_bus_message_seal (message, 1, 0), >=, 0);
  g_assert_cmpint (sd_bus_message_rewind (message, TRUE), >=, 0);
  g_assert_cmpint (sbx_variant_to_json (message, &node), >=, 0);

  json = sbx_json_text (node, SBX_JSON_SHORT);
  g_assert_cmpstr (json, ==,
                   "{\"Version\":\"0.1\",\"DockerReachable\":true,\"Turns\":3,\"Names\":[\"a\",\"b\"],"
                   "\"Sums\":{\"calls\":7}}\n");
  text = sbx_variant_describe (json_node_get_object (node));
  g_assert_cmpstr (text, ==,
                   "DockerReachable: yes\n          Names: a\n                 b\n           Sums: "
                   "{\"calls\":7}\n          Turns: 3\n"
                   "        Version: 0.1\n");
}

static void
test_nothing (void)
{
  g_autoptr (sd_bus) bus = NULL;
  g_auto (SbxFd) peer = -1;
  g_autoptr (sd_bus_message) message = new_message (&bus, &peer);
  g_autoptr (JsonNode) node = NULL;

  g_assert_cmpint (sd_bus_message_seal (message, 1, 0), >=, 0);
  g_assert_cmpint (sbx_variant_to_json (message, &node), <, 0);
  g_assert_null (node);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ctl/variant/read", test_read);
  g_test_add_func ("/ctl/variant/nothing", test_nothing);
  return g_test_run ();
}
