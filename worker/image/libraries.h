/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Which shared libraries a program needs on this host: asked of its own dynamic loader. Blocking. */
#pragma once

#include <glib.h>

/* The loader's path as the program names it (PT_INTERP), or NULL for a static program. FALSE with error set
 * (SBX_IMAGE_ERROR) for a file that is no 64-bit ELF program. Pure, but for reading the file. */
gboolean sbx_libraries_loader (const char *program, char **ret_loader, GError **error);

/* Absolute paths of all libraries, those of libraries included, sorted by name. An empty list for a static
 * program. NULL with error set (SBX_IMAGE_ERROR). */
GPtrArray *sbx_libraries_of (const char *program, GError **error);

/* The path on one line that the loader prints, or NULL for a line without one (the vDSO, which is no file;
 * not found). *ret_missing tells whether the line says that a library is missing. Pure. */
char *sbx_libraries_parse_line (const char *line, gboolean *ret_missing);
