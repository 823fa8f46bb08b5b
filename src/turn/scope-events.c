/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/scope-events.h"

#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/names.h"
#include "base/source.h"

/* Where systemd puts a slice by its name: "a-b.slice" is below "a.slice" (systemd.slice(5)). */
#define SLICE_PATH "sandboxd.slice/" SBX_TURN_SLICE

#define V1_LOOK_MSEC 200u

struct _SbxScopeEvents {
  SbxFd notify;
  SbxFd memory;
  SbxFd pids;
  GSource *source;
  GSource *timer; /* on cgroup v1 */
  gboolean oom;
  gboolean pids_max;
};

gboolean
sbx_scope_events_says (const char *text, const char *name)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gsize n_name = strlen (name);

  for (guint i = 0; lines[i] != NULL; i++)
    if (strncmp (lines[i], name, n_name) == 0 && lines[i][n_name] == ' ')
      return g_ascii_strtoull (lines[i] + n_name + 1, NULL, 10) > 0;
  return FALSE;
}

static gboolean
file_says (int fd, const char *name)
{
  char text[1024];
  gssize n = fd >= 0 ? pread (fd, text, sizeof text - 1, 0) : -1;

  /* ENODEV: the scope has gone. */
  if (n < 0)
    return FALSE;
  text[n] = '\0';
  return sbx_scope_events_says (text, name);
}

static void
look (SbxScopeEvents *self)
{
  char events[4096];

  while (self->notify >= 0 && read (self->notify, events, sizeof events) > 0)
    ;
  self->oom = self->oom || file_says (self->memory, "oom_kill");
  self->pids_max = self->pids_max || file_says (self->pids, "max");
}

static gboolean
on_event (int fd, GIOCondition condition, gpointer user_data)
{
  look (user_data);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_timer (gpointer user_data)
{
  look (user_data);
  return G_SOURCE_CONTINUE;
}

static int
open_watched (SbxScopeEvents *self, const char *cgroup_root, const char *below, const char *container,
              const char *file)
{
  g_autofree char *path =
    g_strdup_printf ("%s/%s" SLICE_PATH "/docker-%s.scope/%s", cgroup_root, below, container, file);
  int fd = open (path, O_RDONLY | O_CLOEXEC);

  if (fd >= 0)
    (void) inotify_add_watch (self->notify, path, IN_MODIFY);
  return fd;
}

SbxScopeEvents *
sbx_scope_events_new (const char *cgroup_root, const char *container)
{
  SbxScopeEvents *self = g_new0 (SbxScopeEvents, 1);
  const char *root = cgroup_root != NULL ? cgroup_root : "/sys/fs/cgroup";

  self->notify = inotify_init1 (IN_NONBLOCK | IN_CLOEXEC);
  self->memory = open_watched (self, root, "", container, "memory.events");
  self->pids = open_watched (self, root, "", container, "pids.events");
  if (self->pids < 0)
    {
      self->pids = open_watched (self, root, "pids/", container, "pids.events");
      if (self->pids >= 0)
        {
          self->timer = g_timeout_source_new (V1_LOOK_MSEC);
          g_source_set_callback (self->timer, on_timer, self, NULL);
          g_source_attach (self->timer, NULL);
        }
    }
  if (self->notify < 0)
    return self;
  self->source = sbx_source_watch_fd (self->notify, G_IO_IN, G_PRIORITY_DEFAULT, on_event, self);
  return self;
}

void
sbx_scope_events_free (SbxScopeEvents *self)
{
  if (self == NULL)
    return;
  sbx_source_clear (&self->source);
  sbx_source_clear (&self->timer);
  sbx_fd_close (self->notify);
  sbx_fd_close (self->memory);
  sbx_fd_close (self->pids);
  g_free (self);
}

gboolean
sbx_scope_events_saw_oom (SbxScopeEvents *self)
{
  if (self == NULL)
    return FALSE;
  look (self);
  return self->oom;
}

gboolean
sbx_scope_events_saw_pids (SbxScopeEvents *self)
{
  if (self == NULL)
    return FALSE;
  look (self);
  return self->pids_max;
}
