/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/watchdog.h"

#include <systemd/sd-daemon.h>

static gboolean
on_watchdog_due (gpointer user_data)
{
  (void) sd_notify (0, "WATCHDOG=1");
  return G_SOURCE_CONTINUE;
}

guint
sbx_watchdog_start (void)
{
  uint64_t usec = 0;

  if (sd_watchdog_enabled (0, &usec) <= 0)
    return 0;
  return g_timeout_add ((guint) MAX (usec / 2000, 1), on_watchdog_due, NULL);
}
