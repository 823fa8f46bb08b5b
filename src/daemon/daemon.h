/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandboxd: builds its rooms, connects them, and takes them down in reverse. */
#pragma once

#include <gio/gio.h>

#include "bus/bus-connection.h"
#include "config/settings.h"
#include "turn/turns.h"
#include "turn/wiper.h"

/* Where things are; all have defaults, tests set others. Borrowed texts. */
typedef struct {
  const char *config_root; /* NULL: the real one */
  const char *bus_address; /* NULL: the system bus */
  const char *state_dir;
  const char *run_dir;
  const char *docker_socket;
  const char *egress_socket;
  const char *broker_program;
} SbxDaemonPlaces;

typedef struct _SbxDaemon SbxDaemon;

/* Reads the configuration and opens the state. NULL with error set; SBX_CONFIG_ERROR where the configuration
 * is wrong. Blocking, as start-up may be. */
SbxDaemon *sbx_daemon_new (const SbxDaemonPlaces *places, GError **error);
void sbx_daemon_free (SbxDaemon *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxDaemon, sbx_daemon_free)

/* Runs until a signal ends it. FALSE with error set when it cannot go on. */
gboolean sbx_daemon_run (SbxDaemon *self, GError **error);

/* Reads sandboxd's configuration again. FALSE with error set, and the old one is kept; the journal has it. */
gboolean sbx_daemon_reload (SbxDaemon *self, GError **error);

/* For the manager on the bus. */
SbxTurns *sbx_daemon_turns (SbxDaemon *self);
SbxTurnContext *sbx_daemon_context (SbxDaemon *self);
SbxChannelStore *sbx_daemon_channels (SbxDaemon *self);
SbxWiper *sbx_daemon_wiper (SbxDaemon *self);
const char *const *sbx_daemon_warnings (SbxDaemon *self);
