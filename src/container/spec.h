/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a worker's container is: limits, mounts, names and labels, as the body of the Engine API's create
 * call. Pure.
 *
 * The settings are those of doc/protocol.md 4; nothing in the body comes from a guest.
 */
#pragma once

#include <glib.h>

#define SBX_SPEC_ERROR (sbx_spec_error_quark ())
GQuark sbx_spec_error_quark (void);
typedef enum {
  SBX_SPEC_ERROR_VALUE, /* a member breaks its rule; the text names it */
} SbxSpecError;

typedef struct {
  const char *image;          /* not empty, no blank, not beginning with "-" */
  const char *installation;   /* labels: who made it … */
  const char *channel;        /* … for which channel: 64 hex digits … */
  const char *turn;           /* … and turn */
  guint32 uid, gid;           /* above 0 */
  guint64 memory_bytes;       /* at least 64 MiB; swap is the same, so none */
  gint64 nano_cpus;           /* above 0; 1,000,000,000 is one CPU */
  gint64 pids;                /* at least 8 */
  const char *run_dir;        /* at /broker, read-only; NULL: none (the wipe container) */
  const char *workspace;      /* at /workspace. Both absolute, resolved, not "/", neither inside the other */
  const char *runtime;        /* an OCI runtime by Docker's name; NULL: Docker's default */
  const char *const *command; /* NULL-terminated, instead of the image's entry point; NULL: the image's */
} SbxContainerSpec;

/* The JSON body. NULL with error set (SBX_SPEC_ERROR). */
char *sbx_container_spec_to_json (const SbxContainerSpec *spec, GError **error);

/* "roundtable-sandbox-<first 16 of channel>-<8 hex digits>": a container's name. channel is 64 hex digits. */
char *sbx_container_name (const char *channel, guint32 random);
