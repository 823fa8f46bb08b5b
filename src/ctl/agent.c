/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/agent.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include "base/fd.h"

/* Its end of the pipe, which it closes when it is registered. */
#define NOTIFY_FD   3
#define NOTIFY_TEXT "3"
/* Without it the call is tried all the same, and says what is missing. */
#define REGISTER_MSEC 5000

struct _SbxAgent {
  GSubprocess *process;
};

static void
end_with_parent (gpointer user_data)
{
  (void) prctl (PR_SET_PDEATHSIG, SIGTERM);
}

static GSubprocess *
spawn (int notify)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autofree char *session = NULL;
  /* polkit looks for one of the session's first, and where there is no session it finds no fallback either.
   */
  gboolean has_session = sd_pid_get_session (0, &session) >= 0;

  g_subprocess_launcher_set_child_setup (launcher, end_with_parent, NULL, NULL);
  g_subprocess_launcher_take_fd (launcher, notify, NOTIFY_FD);
  return g_subprocess_launcher_spawn (launcher, NULL, "pkttyagent", "--notify-fd", NOTIFY_TEXT,
                                      has_session ? "--fallback" : NULL, NULL);
}

SbxAgent *
sbx_agent_start (void)
{
  g_autoptr (GSubprocess) process = NULL;
  g_auto (SbxFd) ready = -1;
  struct pollfd poll_fd = { .events = POLLIN };
  SbxAgent *self;
  int ends[2];

  if (geteuid () == 0 || !isatty (STDIN_FILENO) || pipe2 (ends, O_CLOEXEC) < 0)
    return NULL;
  ready = ends[0];
  process = spawn (ends[1]);
  if (process == NULL)
    return NULL;
  poll_fd.fd = ready;
  (void) poll (&poll_fd, 1, REGISTER_MSEC);
  self = g_new0 (SbxAgent, 1);
  self->process = g_steal_pointer (&process);
  return self;
}

void
sbx_agent_free (SbxAgent *self)
{
  if (self == NULL)
    return;
  g_subprocess_send_signal (self->process, SIGTERM);
  (void) g_subprocess_wait (self->process, NULL, NULL);
  g_object_unref (self->process);
  g_free (self);
}
