/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Containers, running or not, that carry this installation's label. */
#pragma once

#include "cleanup/sweep.h"

/* socket_path: NULL for Docker's own. Runs the default main context until all are gone or the time is over.
 */
void sbx_sweep_containers (SbxSweep *self, const char *socket_path, const char *installation);
