/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/source.h"

typedef struct {
  GSource base;
  GPollFD poll;
} Watch;

static gboolean
watch_check (GSource *source)
{
  return ((Watch *) source)->poll.revents != 0;
}

static gboolean
watch_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  const Watch *self = (Watch *) source;

  return ((GUnixFDSourceFunc) (void (*) (void)) callback) (self->poll.fd, (GIOCondition) self->poll.revents,
                                                           user_data);
}

static GSourceFuncs watch_funcs = { .check = watch_check, .dispatch = watch_dispatch };

GSource *
sbx_source_watch_fd (int fd, GIOCondition condition, int priority, GUnixFDSourceFunc callback,
                     gpointer user_data)
{
  GSource *source = g_source_new (&watch_funcs, sizeof (Watch));
  Watch *self = (Watch *) source;

  self->poll.fd = fd;
  self->poll.events = (gushort) condition;
  g_source_add_poll (source, &self->poll);
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
sbx_source_watch_set (GSource *source, GIOCondition condition)
{
  g_return_if_fail (source->source_funcs == &watch_funcs);

  ((Watch *) source)->poll.events = (gushort) condition;
}

GSource *
sbx_source_soon (GSourceFunc callback, gpointer user_data)
{
  GSource *source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, callback, user_data, NULL);
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
