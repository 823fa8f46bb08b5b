/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* cleanup: by the program that systemd runs for it, so that there is one way only. */
#include "ctl/ctl.h"

#include <errno.h>
#include <unistd.h>

#include "sbx-config.h"

SbxExit
sbx_verb_cleanup (SbxCtl *ctl, int n_words, char **words)
{
  static const char *const program = SBX_LIBEXECDIR "/sandbox-cleanup";

  if (geteuid () != 0)
    {
      g_printerr ("Cannot clean up: only root can; try \"sudo sandboxctl cleanup\".\n");
      return SBX_EXIT_DENIED;
    }
  (void) execl (program, "sandbox-cleanup", ctl->dry_run ? "--dry-run" : NULL, NULL);
  g_printerr ("Cannot clean up: %s: %s\n", program, g_strerror (errno));
  return SBX_EXIT_FAILED;
}
