/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/source.h"

#define GUEST_PRIORITY (G_PRIORITY_DEFAULT + 10)

GSource *
sbx_source_watch (int fd, GIOCondition condition, GUnixFDSourceFunc callback, gpointer user_data)
{
  return sbx_source_watch_fd (fd, condition, GUEST_PRIORITY, callback, user_data);
}

GSource *
sbx_source_after (guint msec, GSourceFunc callback, gpointer user_data)
{
  GSource *source = g_timeout_source_new (msec);

  g_source_set_priority (source, GUEST_PRIORITY);
  g_source_set_callback (source, callback, user_data, NULL);
  g_source_attach (source, g_main_context_get_thread_default ());
  return source;
}
