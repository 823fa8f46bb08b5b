/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "test-bus.h"

#include "base/source.h"
#include "bus/bus-source.h"

sd_bus *
test_bus_connect (TestBus *self)
{
  sd_bus *bus = NULL;

  g_assert_cmpint (sd_bus_new (&bus), >=, 0);
  g_assert_cmpint (sd_bus_set_address (bus, g_test_dbus_get_bus_address (self->daemon)), >=, 0);
  g_assert_cmpint (sd_bus_set_bus_client (bus, 1), >=, 0);
  g_assert_cmpint (sd_bus_start (bus), >=, 0);
  return bus;
}

void
test_bus_set_up (TestBus *self, const char *peer_name)
{
  self->daemon = g_test_dbus_new (G_TEST_DBUS_NONE);
  g_test_dbus_up (self->daemon);
  self->client = test_bus_connect (self);
  self->client_source = sbx_bus_source_new (self->client, NULL, NULL);
  g_source_attach (self->client_source, NULL);
  if (peer_name == NULL)
    return;
  self->peer = test_bus_connect (self);
  g_assert_cmpint (sd_bus_request_name (self->peer, peer_name, 0), >=, 0);
  self->peer_source = sbx_bus_source_new (self->peer, NULL, NULL);
  g_source_attach (self->peer_source, NULL);
}

static void
drop (GSource **source, sd_bus **bus)
{
  sbx_source_clear (source);
  *bus = sd_bus_unref (*bus);
}

void
test_bus_tear_down (TestBus *self)
{
  drop (&self->client_source, &self->client);
  drop (&self->peer_source, &self->peer);
  g_test_dbus_down (self->daemon);
  g_clear_object (&self->daemon);
}

void
keep_result (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GAsyncResult **kept = user_data;

  g_assert_null (*kept);
  *kept = g_object_ref (result);
}

GAsyncResult *
await_result (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}
