/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/bus-connection.h"

#include "base/source.h"
#include "bus/bus-auto.h"
#include "bus/bus-source.h"

#define FIRST_PAUSE_MS   200u
#define LONGEST_PAUSE_MS 5000u

struct _SbxBusConnection {
  char *address;
  const SbxBusConnectionEvents *events;
  gpointer user_data;
  sd_bus *bus;
  GSource *source;
  GSource *next; /* opening, or telling of a loss */
  guint pause_ms;
};

static gboolean on_open (gpointer user_data);
static gboolean on_lost_idle (gpointer user_data);

static void
do_next (SbxBusConnection *self, GSource *source, GSourceFunc function)
{
  sbx_source_clear (&self->next);
  g_source_set_callback (source, function, self, NULL);
  g_source_attach (source, NULL);
  self->next = source;
}

static void
open_later (SbxBusConnection *self)
{
  guint pause_ms = self->pause_ms;

  self->pause_ms = MIN (self->pause_ms * 2, LONGEST_PAUSE_MS);
  do_next (self, g_timeout_source_new (pause_ms), on_open);
}

/* The loss is told from an idle source: dropping slots inside sd_bus_process() aborts libsystemd 252. */
static void
on_lost (gpointer user_data)
{
  do_next (user_data, g_idle_source_new (), on_lost_idle);
}

static void
let_go (SbxBusConnection *self)
{
  sbx_source_clear (&self->source);
  self->bus = sd_bus_flush_close_unref (self->bus);
}

static gboolean
on_lost_idle (gpointer user_data)
{
  SbxBusConnection *self = user_data;

  self->events->lost (self, self->user_data);
  let_go (self);
  open_later (self);
  return G_SOURCE_REMOVE;
}

static int
open_bus (const char *address, sd_bus **ret_bus)
{
  g_autoptr (sd_bus) bus = NULL;
  int r = 0;

  if (address == NULL)
    return sd_bus_open_system (ret_bus);
  r = sd_bus_new (&bus);
  if (r < 0)
    return r;
  r = sd_bus_set_address (bus, address);
  if (r < 0)
    return r;
  r = sd_bus_set_bus_client (bus, 1);
  if (r < 0)
    return r;
  r = sd_bus_start (bus);
  if (r < 0)
    return r;
  *ret_bus = g_steal_pointer (&bus);
  return 0;
}

static gboolean
on_open (gpointer user_data)
{
  SbxBusConnection *self = user_data;

  if (open_bus (self->address, &self->bus) < 0)
    {
      open_later (self);
      return G_SOURCE_REMOVE;
    }
  /* A bus whose connection breaks must not take the process with it, as it would with
   * sd_bus_set_exit_on_disconnect(). */
  self->source = sbx_bus_source_new (self->bus, on_lost, self);
  g_source_attach (self->source, NULL);
  if (!self->events->ready (self, self->bus, self->user_data))
    {
      let_go (self);
      open_later (self);
      return G_SOURCE_REMOVE;
    }
  self->pause_ms = FIRST_PAUSE_MS;
  return G_SOURCE_REMOVE;
}

SbxBusConnection *
sbx_bus_connection_new (const char *address, const SbxBusConnectionEvents *events, gpointer user_data)
{
  SbxBusConnection *self = g_new0 (SbxBusConnection, 1);

  self->address = g_strdup (address);
  self->events = events;
  self->user_data = user_data;
  self->pause_ms = FIRST_PAUSE_MS;
  do_next (self, g_idle_source_new (), on_open);
  return self;
}

void
sbx_bus_connection_free (SbxBusConnection *self)
{
  if (self == NULL)
    return;
  sbx_source_clear (&self->next);
  let_go (self);
  g_free (self->address);
  g_free (self);
}

sd_bus *
sbx_bus_connection_peek (SbxBusConnection *self)
{
  return self->bus;
}
