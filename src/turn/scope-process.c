/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/scope-process.h"

#include <glib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/names.h"

/* Where systemd puts the scope on cgroup v2, and on v1 one hierarchy of it. */
static const char *const hierarchies[] = { "", "pids/" };

/* The first process of the scope: a container that has just been started has no other. 0: none. */
static pid_t
first_process (const char *path)
{
  g_autofree char *text = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  return (pid_t) g_ascii_strtoll (text, NULL, 10);
}

int
sbx_scope_process_open (const char *cgroup_root, const char *container)
{
  for (gsize i = 0; i < G_N_ELEMENTS (hierarchies); i++)
    {
      g_autofree char *path =
        g_strdup_printf ("%s/%ssandboxd.slice/" SBX_TURN_SLICE "/docker-%s.scope/cgroup.procs",
                         cgroup_root != NULL ? cgroup_root : "/sys/fs/cgroup", hierarchies[i], container);
      pid_t pid = first_process (path);
      g_auto (SbxFd) fd = pid > 0 ? (int) syscall (SYS_pidfd_open, pid, 0) : -1;

      /* Still there: so the number was not another's by the time it was opened. */
      if (fd >= 0 && first_process (path) == pid)
        return g_steal_fd (&fd);
    }
  return -1;
}
