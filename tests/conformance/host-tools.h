/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The host tools that the vectors ask for, as an operator's socket tools would be: clock, echo, slow, huge,
 * fail. */
#pragma once

#include <gio/gio.h>

/* Serves them on sockets in directory, in threads of their own. Returns what sandboxd calls: of
 * SbxToolTarget. fail_text is what `fail` prints. */
GPtrArray *host_tools_serve (const char *directory, const char *fail_text);

extern const char *const host_tools_names[];
