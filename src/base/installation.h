/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The name that this installation gives to what it makes: the value of SBX_LABEL_INSTALLATION on every
 * container.
 *
 * Two hosts may share one dockerd, and a host may run other people's containers; clean-up touches what
 * carries this value, and nothing else. It is derived from the machine's id, so it survives a lost state
 * directory, and does not tell the machine's id (sd_id128_get_machine_app_specific(3)).
 */
#pragma once

#include <glib.h>

/* sbx_installation_id:
 * Returns 32 lower-case hex digits; the caller frees them. NULL with an error where /etc/machine-id is
 * missing or empty.
 */
char *sbx_installation_id (GError **error);
