/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/source.h"

GSource *
sbx_source_watch_fd (int fd, GIOCondition condition, int priority, GUnixFDSourceFunc callback,
                     gpointer user_data)
{
  GSource *source = g_unix_fd_source_new (fd, condition);

  /* GLib takes the descriptors of a source that runs out of the poll, lest a loop within its callback came
   * back to it, and wakes the loop up by a write to itself when it puts them back: three system calls at each
   * event, for a loop that nobody runs. */
  g_source_set_can_recurse (source, TRUE);
  g_source_set_priority (source, priority);
  g_source_set_callback (source, G_SOURCE_FUNC (callback), user_data, NULL);
  g_source_attach (source, g_main_context_get_thread_default ());
  return source;
}

void
sbx_source_clear (GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}
