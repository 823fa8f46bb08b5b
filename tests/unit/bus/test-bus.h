/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A private dbus-daemon, and connections to it in this process's main loop: one for the tested side, one for
 * a peer that plays systemd or polkit. */
#pragma once

#include <gio/gio.h>
#include <systemd/sd-bus.h>

typedef struct {
  GTestDBus *daemon;
  sd_bus *client;
  sd_bus *peer;
  GSource *client_source;
  GSource *peer_source;
} TestBus;

void test_bus_set_up (TestBus *self, const char *peer_name);
void test_bus_tear_down (TestBus *self);
/* Another connection, without a source. */
sd_bus *test_bus_connect (TestBus *self);

void keep_result (GObject *source, GAsyncResult *result, gpointer user_data);
GAsyncResult *await_result (GAsyncResult **result);
