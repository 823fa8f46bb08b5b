/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Where configuration files lie, and which of several of one name counts: /etc over /run over /usr/lib, as
 * systemd does it (systemd.unit(5), "drop-in"). An empty file or a link to /dev/null masks those of its name
 * further down.
 */
#pragma once

#include <glib.h>

#define SBX_VENDOR_CONFIG_DIR "/usr/lib/roundtable-sandbox"
#define SBX_RUN_CONFIG_DIR    "/run/roundtable-sandbox-config"

/* A configuration file is small; a larger one is a mistake. */
#define SBX_MAX_CONFIG_FILE_BYTES 262144u

typedef struct {
  char *path;    /* with the root in front, for messages */
  char *content; /* NUL-terminated */
  gsize n_bytes;
} SbxConfigFile;

void sbx_config_file_free (SbxConfigFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxConfigFile, sbx_config_file_free)

/* The file NAME of the highest directory that has it. NULL without error: there is none, or it is masked.
 * NULL with error set (SBX_CONFIG_ERROR_READ): it cannot be read. */
SbxConfigFile *sbx_config_search_file (const char *root, const char *name, GError **error);

/* Every file of DIRECTORY whose name ends in suffix, each from the highest place that has it, in order of
 * their names; masked ones left out. The array frees its SbxConfigFile. NULL with error set. */
GPtrArray *
sbx_config_search_directory (const char *root, const char *directory, const char *suffix, GError **error);
