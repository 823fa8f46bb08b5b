/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "slow-disk.h"

#include <errno.h>
#include <unistd.h>

static GMutex mutex;
static GCond going;
static gboolean stopped;
static guint n_failures;
static guint n_begun;

int
fsync (int fd)
{
  gboolean fails;

  g_mutex_lock (&mutex);
  n_begun++;
  while (stopped)
    g_cond_wait (&going, &mutex);
  fails = n_failures > 0;
  n_failures -= fails ? 1 : 0;
  g_mutex_unlock (&mutex);
  errno = EIO;
  return fails ? -1 : 0;
}

void
slow_disk_stop (void)
{
  g_mutex_lock (&mutex);
  stopped = TRUE;
  g_mutex_unlock (&mutex);
}

void
slow_disk_go (void)
{
  g_mutex_lock (&mutex);
  stopped = FALSE;
  g_cond_broadcast (&going);
  g_mutex_unlock (&mutex);
}

void
slow_disk_fail (guint n)
{
  g_mutex_lock (&mutex);
  n_failures = n;
  g_mutex_unlock (&mutex);
}

guint
slow_disk_count (void)
{
  guint n;

  g_mutex_lock (&mutex);
  n = n_begun;
  g_mutex_unlock (&mutex);
  return n;
}
