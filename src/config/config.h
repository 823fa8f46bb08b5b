/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandboxd.conf with its drop-ins, read once and checked whole. Pure values: nothing here is a key or opens a
 * network.
 *
 * Files: `sandboxd.conf` from the first of /etc/roundtable-sandbox, /run/roundtable-sandbox-config and
 * /usr/lib/roundtable-sandbox that has it, then every `sandboxd.conf.d/NAME.conf` in order of NAME, each from
 * the first of these directories that has it (config/search.h has the masks). Later files win key by key.
 * (/run/roundtable-sandbox itself is sandboxd's own runtime directory: closed to others, emptied at each
 * restart.)
 *
 * A bad value is an error that names file, group, key, value and what is right. An unknown group or key is a
 * warning that names the nearest known one, so that a newer file does not stop an older program.
 */
#pragma once

#include <glib.h>

#include "config/endpoint.h"

#define SBX_CONFIG_ERROR (sbx_config_error_quark ())
GQuark sbx_config_error_quark (void);
typedef enum {
  SBX_CONFIG_ERROR_READ,  /* a file or directory that is there cannot be read */
  SBX_CONFIG_ERROR_VALUE, /* something in it is wrong; the text is whole, for a person */
} SbxConfigError;

typedef struct {
  /* [Worker] */
  char *image;
  char *worker_user;
  guint64 memory_max_bytes;
  double cpus;
  guint64 pids_max;
  char *runtime; /* Docker's name for it; empty for Docker's default */
  char *prompt;
  char *time_zone;
  /* [Turns] */
  guint64 deadline_usec;
  guint64 calls;
  guint64 max_turns;
  guint64 max_queued;           /* per channel */
  guint64 prepared_turns;       /* over all channels; 0: none */
  guint64 prepared_per_channel; /* of a channel in use */
  guint64 prepared_idle_usec;   /* how long a channel is in use behind its last turn */
  guint64 speaker_turns;        /* at most so many turns of one speaker … */
  guint64 speaker_window_usec;  /* … in so long; 0 and 0 where it is switched off */
  guint64 min_free_bytes;
  gboolean require_principal;
  gboolean compaction;
  /* [Channels] */
  char **initial_channels;
  /* [Model] */
  SbxEndpoint *model; /* url empty where it is not configured yet */
  char *model_name;
  guint64 output_tokens;
  char *output_token_field; /* max_tokens or max_completion_tokens */
  char *extra_body;         /* a JSON object as compact text; "{}" by default */
  char **kept_members;
} SbxConfig;

/* Reads everything below root ("" or NULL: the real system). Warnings, one text each, are added to warnings
 * where it is not NULL. NULL with error set (SBX_CONFIG_ERROR). */
SbxConfig *sbx_config_load (const char *root, GPtrArray *warnings, GError **error);
void sbx_config_free (SbxConfig *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxConfig, sbx_config_free)

/* The option table: what the loader reads by, and what the lint holds the shipped file and the manual
 * against. */
typedef enum {
  SBX_OPTION_TEXT,
  SBX_OPTION_LIST,
  SBX_OPTION_BOOLEAN,
  SBX_OPTION_NUMBER,   /* a whole number */
  SBX_OPTION_FRACTION, /* a decimal number */
  SBX_OPTION_SIZE,     /* bytes; K, M, G, T are powers of 1,024 */
  SBX_OPTION_SPAN,     /* a time span as systemd writes it; a bare number is seconds */
  SBX_OPTION_RATE,     /* number/span, or "off" */
} SbxOptionKind;

typedef struct {
  const char *group;
  const char *key;
  SbxOptionKind kind;
  gsize offset; /* in SbxConfig, or in SbxEndpoint for the endpoint's options */
  gboolean of_endpoint;
  guint64 minimum; /* numbers, bytes or microseconds; minimum and maximum 0: no range */
  guint64 maximum;
  const char *standard;                  /* the default as it would stand in the file */
  const char *right;                     /* what is right, as the end of "… is not right: it must be …" */
  gboolean (*check) (const char *value); /* for texts: whether it is right; NULL: any */
} SbxConfigOption;

extern const SbxConfigOption sbx_config_options[];
extern const gsize sbx_config_n_options;
