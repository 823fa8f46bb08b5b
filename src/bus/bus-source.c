/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/bus-source.h"

typedef struct {
  GSource base;
  sd_bus *bus;
  gpointer tag;
  GIOCondition events; /* as the main context has them */
  void (*on_lost) (gpointer user_data);
  gpointer user_data;
} SbxBusSource;

/* When the bus wants to be called although nothing arrives: absolute, CLOCK_MONOTONIC, which is GLib's clock.
 */
static gboolean
is_due (sd_bus *bus, gint *ret_timeout_ms)
{
  guint64 now = (guint64) g_get_monotonic_time ();
  guint64 due = G_MAXUINT64;

  *ret_timeout_ms = -1;
  if (sd_bus_get_timeout (bus, &due) < 0)
    return TRUE;
  if (due == G_MAXUINT64)
    return FALSE;
  /* rounded up, or the loop would spin through the last millisecond */
  *ret_timeout_ms = due <= now ? 0 : (gint) MIN ((due - now + 999) / 1000, G_MAXINT);
  return due <= now;
}

static gboolean
bus_source_prepare (GSource *source, gint *timeout_ms)
{
  SbxBusSource *self = (SbxBusSource *) source;
  int events = sd_bus_get_events (self->bus);

  /* A dead bus has no events to ask for: dispatch reports it. */
  if (events < 0)
    return TRUE;
  /* Told only when it changes: each call wakes the main context up, so that the loop would never sleep. */
  if (self->events != (GIOCondition) events)
    {
      self->events = (GIOCondition) events;
      g_source_modify_unix_fd (source, self->tag, self->events);
    }
  return is_due (self->bus, timeout_ms);
}

static gboolean
bus_source_check (GSource *source)
{
  SbxBusSource *self = (SbxBusSource *) source;
  gint timeout_ms = -1;

  return g_source_query_unix_fd (source, self->tag) != 0 || is_due (self->bus, &timeout_ms);
}

static gboolean
bus_source_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  SbxBusSource *self = (SbxBusSource *) source;

  /* One message a turn of the loop, so that a busy bus cannot starve the rest. */
  if (sd_bus_process (self->bus, NULL) >= 0)
    return G_SOURCE_CONTINUE;
  if (self->on_lost != NULL)
    self->on_lost (self->user_data);
  return G_SOURCE_REMOVE;
}

static void
bus_source_finalize (GSource *source)
{
  SbxBusSource *self = (SbxBusSource *) source;

  self->bus = sd_bus_flush_close_unref (self->bus);
}

static GSourceFuncs bus_source_funcs = {
  .prepare = bus_source_prepare,
  .check = bus_source_check,
  .dispatch = bus_source_dispatch,
  .finalize = bus_source_finalize,
};

GSource *
sbx_bus_source_new (sd_bus *bus, void (*on_lost) (gpointer user_data), gpointer user_data)
{
  GSource *source = g_source_new (&bus_source_funcs, sizeof (SbxBusSource));
  SbxBusSource *self = (SbxBusSource *) source;

  self->bus = sd_bus_ref (bus);
  self->on_lost = on_lost;
  self->user_data = user_data;
  self->events = G_IO_IN;
  self->tag = g_source_add_unix_fd (source, sd_bus_get_fd (bus), self->events);
  g_source_set_can_recurse (source, TRUE); /* as in base/source.c */
  g_source_set_static_name (source, "sd-bus");
  return source;
}
