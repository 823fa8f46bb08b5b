/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The run directories of turns: "turn-…" in sandboxd's run directory. A worker can write into what it is
 * given of one, so nothing here follows a link, enters another file system, or trusts a name twice.
 */
#pragma once

#include "cleanup/sweep.h"

/* parent: SBX_RUN_DIR, or a test's. A parent that is not there is fine. */
void sbx_sweep_run_dirs (SbxSweep *self, const char *parent);
