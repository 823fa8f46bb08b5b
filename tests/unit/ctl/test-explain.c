/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/explain.h"

#include <string.h>

typedef struct {
  const char *name;
  const char *message;
  SbxExit status;
  const char *holds; /* a part of the text that helps */
} Row;

static const Row rows[] = {
  { "org.freedesktop.DBus.Error.ServiceUnknown", "The name is not activatable", SBX_EXIT_DOWN,
    "systemctl start sandboxd" },
  { "org.freedesktop.DBus.Error.FileNotFound", "No such file or directory", SBX_EXIT_DOWN,
    "systemctl status dbus" },
  { "org.freedesktop.DBus.Error.AccessDenied", "Access denied", SBX_EXIT_DENIED, "not authorized" },
  { "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", "Interactive authentication required.",
    SBX_EXIT_DENIED, "polkit" },
  { "org.roundtable.Sandbox1.Error.NotSandboxed", "The channel is not sandboxed", SBX_EXIT_NOT_SANDBOXED,
    "sandboxctl on" },
  { "org.roundtable.Sandbox1.Error.DockerDown", "Docker does not answer", SBX_EXIT_TURN_FAILED,
    "systemctl start docker" },
  { "org.roundtable.Sandbox1.Error.ImageMissing", "There is no image", SBX_EXIT_TURN_FAILED,
    "sandboxctl image build" },
  { "org.roundtable.Sandbox1.Error.NoSuchTurn", "There is no such turn", SBX_EXIT_NOT_FOUND,
    "sandboxctl turns" },
  { "org.roundtable.Sandbox1.Error.QueueFull", "Eight wait already", SBX_EXIT_BUSY, "later" },
  { "org.roundtable.Sandbox1.Error.DeadlineExceeded", "It took over 120 s", SBX_EXIT_TURN_FAILED,
    "It took over 120 s" },
  { "org.roundtable.Sandbox1.Error.ConfigRejected", "Deadline=never is no time", SBX_EXIT_FAILED,
    "Deadline=never" },
  { "org.roundtable.Sandbox1.Error.OfALaterVersion", "Something new", SBX_EXIT_TURN_FAILED, "Something new" },
  { "com.example.Odd", "odd", SBX_EXIT_FAILED, "odd" },
  { "com.example.Odd", NULL, SBX_EXIT_FAILED, "com.example.Odd" },
  { NULL, NULL, SBX_EXIT_FAILED, "no reason" },
};

static void
test_table (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SbxExit status = SBX_EXIT_GOOD;
      g_autofree char *text = sbx_ctl_explain (rows[i].name, rows[i].message, "run a turn", &status);

      g_test_message ("%s: %s", rows[i].name != NULL ? rows[i].name : "no name", text);
      g_assert_cmpint (status, ==, rows[i].status);
      g_assert_nonnull (strstr (text, rows[i].holds));
      g_assert_true (g_str_has_prefix (text, "Cannot run a turn: "));
      g_assert_false (g_str_has_suffix (text, "\n"));
    }
}

/* What the service says in full is not said twice. */
static void
test_no_double_advice (void)
{
  SbxExit status;
  g_autofree char *text =
    sbx_ctl_explain ("org.roundtable.Sandbox1.Error.ImageMissing",
                     "It is missing. Make it with \"sandboxctl image build\".", "run a turn", &status);

  g_assert_null (strchr (text, '\n'));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ctl/explain/table", test_table);
  g_test_add_func ("/ctl/explain/no-double-advice", test_no_double_advice);
  return g_test_run ();
}
