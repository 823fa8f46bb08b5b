/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/http-pool.h"

#include <poll.h>

#include "base/deadline.h"
#include "base/fd.h"
#include "base/source.h"

struct _SbxHttpPool {
  GPtrArray *idle; /* the last used last */
};

typedef struct {
  SbxHttpPool *pool;
  SbxFd fd;
  GSource *source;
  SbxDeadline *deadline;
} Idle;

static void
idle_free (gpointer data)
{
  Idle *self = data;

  sbx_source_clear (&self->source);
  sbx_deadline_free (self->deadline);
  sbx_fd_close (self->fd);
  g_free (self);
}

static void
on_idle_over (gpointer user_data)
{
  Idle *self = user_data;

  g_ptr_array_remove (self->pool->idle, self);
}

/* Nothing is due: the end, or what is no answer to anything. */
static gboolean
on_idle_readable (int fd, GIOCondition condition, gpointer user_data)
{
  on_idle_over (user_data);
  return G_SOURCE_REMOVE;
}

SbxHttpPool *
sbx_http_pool_new (void)
{
  SbxHttpPool *self = g_new0 (SbxHttpPool, 1);

  self->idle = g_ptr_array_new_with_free_func (idle_free);
  return self;
}

void
sbx_http_pool_free (SbxHttpPool *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->idle);
  g_free (self);
}

int
sbx_http_pool_take (SbxHttpPool *self)
{
  while (self->idle->len > 0)
    {
      Idle *idle = self->idle->pdata[self->idle->len - 1];
      struct pollfd look = { .fd = idle->fd, .events = POLLIN };
      g_auto (SbxFd) fd = g_steal_fd (&idle->fd);

      g_ptr_array_set_size (self->idle, (gint) self->idle->len - 1);
      /* Its end may have come since the loop last looked. */
      if (poll (&look, 1, 0) == 0)
        return g_steal_fd (&fd);
    }
  return -1;
}

void
sbx_http_pool_give (SbxHttpPool *self, int fd)
{
  Idle *idle;

  if (self->idle->len >= SBX_HTTP_POOL_MAX)
    {
      sbx_fd_close (fd);
      return;
    }
  idle = g_new0 (Idle, 1);
  idle->pool = self;
  idle->fd = fd;
  idle->source = sbx_source_watch_fd (fd, G_IO_IN, G_PRIORITY_DEFAULT, on_idle_readable, idle);
  idle->deadline = sbx_deadline_new (SBX_HTTP_POOL_IDLE_MS, on_idle_over, idle);
  g_ptr_array_add (self->idle, idle);
}
