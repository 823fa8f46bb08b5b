/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a broker can still do once it reads a guest's bytes: wait, read, write, accept, take descriptors, and
 * manage its memory. It opens no file, makes no socket and no connection, sends no descriptor, starts
 * nothing, signals nobody, maps nothing executable; a try ends it (SIGSYS).
 */
#pragma once

#include <gio/gio.h>

/* The syscall filter, byte for byte what sbx_lockdown_apply() loads (base/hardening.h). */
GBytes *sbx_lockdown_filter (GError **error);

/* Has the libraries do once what they do lazily: types, locale, conversions. */
void sbx_lockdown_preload (void);

/* Limits, privileges, standard streams, the filter. FALSE with error set: do not go on. */
gboolean sbx_lockdown_apply (GError **error);
