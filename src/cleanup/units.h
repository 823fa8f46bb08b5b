/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The scopes of brokers and worker containers, by systemd alone: this works while dockerd is down or hangs.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "cleanup/sweep.h"

/* Opens a connection to systemd whose calls end in time: directly, or over the system bus where this is not
 * root. Returns 0 or a negative errno. */
int sbx_sweep_open_bus (sd_bus **ret_bus);

/* Whether sandboxd.service runs (active, or reloading): then its turns are alive, and no business of this
 * program. */
gboolean sbx_sweep_daemon_runs (sd_bus *bus);

/* Ends every process below our slice, and every scope of a broker wherever it is. */
void sbx_sweep_units (SbxSweep *self, sd_bus *bus);
