/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The errors that a caller on the bus sees: stable names, one for each thing that can be wrong, with a
 * sentence that says what to change. Names begin with org.roundtable.Sandbox1.Error. (a failed turn: its
 * SbxFailure in CamelCase).
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "wire/failure.h"

#define SBX_BUS_ERROR (sbx_bus_error_quark ())
GQuark sbx_bus_error_quark (void);

/* What a caller did wrong, or what the daemon does not do now. */
typedef enum {
  SBX_BUS_ERROR_NO_SUCH_TURN,
  SBX_BUS_ERROR_NOT_SANDBOXED,
  SBX_BUS_ERROR_QUEUE_FULL,
  SBX_BUS_ERROR_TOO_BUSY,
  SBX_BUS_ERROR_INVALID_CHANNEL,
  SBX_BUS_ERROR_INVALID_SPEAKER,
  SBX_BUS_ERROR_INVALID_PRINCIPAL,
  SBX_BUS_ERROR_TEXT_TOO_LONG,
  SBX_BUS_ERROR_INVALID_OPTION,
  SBX_BUS_ERROR_INVALID_MODE,
  SBX_BUS_ERROR_SHUTTING_DOWN,
  SBX_BUS_ERROR_STATE_NOT_WRITTEN,
  SBX_BUS_ERROR_RATE_LIMITED,    /* too many turns of one speaker; the text says how long to wait */
  SBX_BUS_ERROR_CONFIG_REJECTED, /* a new configuration is wrong; the old one is kept */
  _SBX_BUS_ERROR_LAST = SBX_BUS_ERROR_CONFIG_REJECTED,
} SbxBusError;

/* Its codes are SbxFailures. */
#define SBX_FAILURE_ERROR (sbx_failure_error_quark ())
GQuark sbx_failure_error_quark (void);

/* The full D-Bus name. Static. NULL for a number outside the list. */
const char *sbx_bus_error_name (SbxBusError code);

/* The full D-Bus name of a failure: SBX_FAILURE_IMAGE_MISSING is ….Error.ImageMissing, SBX_FAILURE_DEADLINE
 * ….DeadlineExceeded. Static. NULL for SBX_FAILURE_NONE. */
const char *sbx_bus_error_failure_name (SbxFailure failure);

/* Fills a bus error and returns the negative errno that a method handler returns. text NULL: the failure's
 * own sentence. */
int sbx_bus_error_set_failure (sd_bus_error *ret_error, SbxFailure failure, const char *text);

/* From a GError: SBX_BUS_ERROR and SBX_FAILURE_ERROR by their codes; G_IO_ERROR_CANCELLED as a cancelled
 * turn; anything else as ….Error.Internal with the error's text. */
int sbx_bus_error_set_gerror (sd_bus_error *ret_error, const GError *error);
