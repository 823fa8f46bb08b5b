/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The daemon's program on a private dbus-daemon, with peers that play polkit and systemd and a Docker that is
 * not there. */
#pragma once

#include "base/names.h"
#include "bus/bus-auto.h"
#include "test-bus.h"

#define ERROR(name) SBX_BUS_ERROR_PREFIX name
#define DENIED      "org.freedesktop.DBus.Error.AccessDenied"
#define INTERACTIVE "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"

/* _NO_ONCE: no, and from then on yes. */
typedef enum { POLKIT_YES, POLKIT_NO, POLKIT_CHALLENGE, POLKIT_SILENT, POLKIT_NO_ONCE } PolkitAnswer;

typedef struct {
  TestBus bus;
  char *dir;
  char *private_socket;
  GSubprocess *daemon;
  PolkitAnswer polkit;
  GPtrArray *asked; /* "action key=value …", each check that polkit got */
  guint cancelled;  /* checks that polkit was told to forget */
  guint scopes;     /* calls of StartTransientUnit */
} Fixture;

/* The program that fixtures run. Set it first. */
extern const char *daemon_program;

void fixture_set_up (Fixture *f, gconstpointer data);
void fixture_tear_down (Fixture *f, gconstpointer data);
GSubprocess *fixture_spawn (Fixture *f, GSubprocessFlags flags);
void fixture_start (Fixture *f);
void fixture_stop (Fixture *f);

/* A method call to the daemon's main object. */
sd_bus_message *fixture_new_call (Fixture *f, const char *interface, const char *method);
/* The answer, an error included. Takes nothing. */
sd_bus_message *fixture_send (sd_bus *bus, sd_bus_message *call);

/* A call with texts alone, NULL-terminated; RunTurn and StartTurn get their empty options by themselves.
 * error NULL: it must succeed. */
sd_bus_message *fixture_call (Fixture *f, const char *method, const char *const *texts, const char *error);

#define TEXTS(...)                                                                                           \
  (const char *const[])                                                                                      \
  {                                                                                                          \
    __VA_ARGS__, NULL                                                                                        \
  }
#define NO_TEXTS                                                                                             \
  (const char *const[])                                                                                      \
  {                                                                                                          \
    NULL                                                                                                     \
  }
#define CALL(f, method, texts, error) sd_bus_message_unref (fixture_call (f, method, texts, error))

void fixture_expect_mode (Fixture *f, const char *channel, const char *mode);

/* Whether polkit was asked for something that begins with action. */
gboolean fixture_was_asked (Fixture *f, const char *action);
