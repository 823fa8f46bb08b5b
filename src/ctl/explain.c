/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/explain.h"

#include <string.h>

#include "base/names.h"

typedef struct {
  const char *name;
  SbxExit status;
  const char *advice; /* follows what the service said; NULL where that says it all */
} Known;

#define FREEDESKTOP "org.freedesktop.DBus.Error."
#define OURS        SBX_BUS_ERROR_PREFIX

#define START                                                                                                \
  "Look at \"systemctl status sandboxd\" and \"journalctl -u sandboxd\"; start it with \"systemctl start "   \
  "sandboxd\"."
#define RIGHTS                                                                                               \
  "polkit decides about it; the example rules in the documentation show how a group gets the right."
#define LATER "Try again a little later."

static const Known known[] = {
  { FREEDESKTOP "ServiceUnknown", SBX_EXIT_DOWN, START },
  { FREEDESKTOP "NameHasNoOwner", SBX_EXIT_DOWN, START },
  { FREEDESKTOP "NoReply", SBX_EXIT_DOWN, START },
  { FREEDESKTOP "Disconnected", SBX_EXIT_DOWN, START },
  { FREEDESKTOP "TimedOut", SBX_EXIT_DOWN, START },
  { FREEDESKTOP "Timeout", SBX_EXIT_DOWN, START },
  { FREEDESKTOP "Spawn.ChildExited", SBX_EXIT_DOWN, START },
  { FREEDESKTOP "FileNotFound", SBX_EXIT_DOWN,
    "Is the system bus running? Look at \"systemctl status dbus\"." },
  { "org.freedesktop.systemd1.NoSuchUnit", SBX_EXIT_DOWN, "sandboxd.service is not installed." },
  { "org.freedesktop.systemd1.UnitMasked", SBX_EXIT_DOWN,
    "Unmask it: \"systemctl unmask sandboxd\", with --runtime if it was masked so." },
  { FREEDESKTOP "AccessDenied", SBX_EXIT_DENIED, RIGHTS },
  { FREEDESKTOP "InteractiveAuthorizationRequired", SBX_EXIT_DENIED, RIGHTS },
  { FREEDESKTOP "UnknownMethod", SBX_EXIT_FAILED,
    "sandboxd is of another version: \"systemctl restart sandboxd\"." },
  { OURS "NotSandboxed", SBX_EXIT_NOT_SANDBOXED,
    "Put the channel into the sandbox: \"sandboxctl on CHANNEL\"." },
  { OURS "ModeOff", SBX_EXIT_NOT_SANDBOXED, NULL },
  { OURS "NoSuchTurn", SBX_EXIT_NOT_FOUND, "\"sandboxctl turns\" lists those that there are." },
  { OURS "QueueFull", SBX_EXIT_BUSY, LATER },
  { OURS "TooBusy", SBX_EXIT_BUSY, LATER },
  { OURS "RateLimited", SBX_EXIT_BUSY, LATER },
  { OURS "DiskLow", SBX_EXIT_BUSY, NULL },
  { OURS "ShuttingDown", SBX_EXIT_DOWN, LATER },
  { OURS "InvalidChannel", SBX_EXIT_USAGE, "A channel is written PLATFORM:ID, such as discord:1234." },
  { OURS "InvalidSpeaker", SBX_EXIT_USAGE, NULL },
  { OURS "InvalidPrincipal", SBX_EXIT_USAGE, NULL },
  { OURS "InvalidOption", SBX_EXIT_USAGE, NULL },
  { OURS "InvalidMode", SBX_EXIT_USAGE, NULL },
  { OURS "TextTooLong", SBX_EXIT_USAGE, NULL },
  { OURS "ConfigRejected", SBX_EXIT_FAILED, NULL },
  { OURS "CleanupFailed", SBX_EXIT_FAILED, NULL },
  { OURS "StateNotWritten", SBX_EXIT_FAILED, NULL },
  { OURS "Internal", SBX_EXIT_FAILED, NULL },
  { OURS "ImageMissing", SBX_EXIT_TURN_FAILED, "Make the worker's image: \"sandboxctl image build\"." },
  { OURS "DockerDown", SBX_EXIT_TURN_FAILED,
    "Look at \"systemctl status docker\"; start it with \"systemctl start docker\"." },
};

static const Known *
find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_strcmp0 (known[i].name, name) == 0)
      return &known[i];
  return NULL;
}

char *
sbx_ctl_explain (const char *name, const char *message, const char *what, SbxExit *ret_exit)
{
  const Known *entry = find (name);
  const char *said = message != NULL && *message != '\0' ? message
                     : name != NULL                      ? name
                                                         : "no reason was given";
  const char *advice = entry != NULL ? entry->advice : NULL;

  if (entry != NULL)
    *ret_exit = entry->status;
  else
    *ret_exit = name != NULL && g_str_has_prefix (name, OURS) ? SBX_EXIT_TURN_FAILED : SBX_EXIT_FAILED;

  if (*ret_exit == SBX_EXIT_DOWN && entry != NULL && !g_str_has_prefix (name, OURS))
    return g_strdup_printf ("Cannot %s: sandboxd cannot be reached (%s).\n%s", what, said, advice);
  if (*ret_exit == SBX_EXIT_DENIED && advice != NULL)
    return g_strdup_printf ("Cannot %s: not authorized (%s).\n%s", what, said, advice);
  /* Most texts of the service say already what to do. */
  if (advice == NULL || strstr (said, "sandboxctl ") != NULL || strstr (said, "systemctl ") != NULL)
    return g_strdup_printf ("Cannot %s: %s", what, said);
  return g_strdup_printf ("Cannot %s: %s\n%s", what, said, advice);
}
