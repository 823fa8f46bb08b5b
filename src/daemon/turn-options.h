/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The options of a turn as callers give them, name by name (a{sv}); unknown ones are refused. */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct {
  char *principal;       /* NULL: none */
  char *message_id;      /* NULL: none */
  guint32 deadline_sec;  /* 0: the configured one */
  guint32 chunk_units;   /* 0: the reply is not cut into parts */
  gboolean not_in_queue; /* refused where it would have to wait */
  gboolean replaces;     /* what the speaker asked before ends (SbxTurnRequest) */
  gboolean live_links;   /* the reply's links stay as the worker wrote them (defang.h) */
} SbxTurnOptions;

void sbx_turn_options_clear (SbxTurnOptions *self);

/* message stands before the variant of the option name. 1: read; 0: no such option, nothing read; negative,
 * with ret_error set where the value is wrong. */
int sbx_turn_options_read_one (SbxTurnOptions *self, sd_bus_message *message, const char *name,
                               sd_bus_error *ret_error);

/* Reads a whole a{sv}; only_shown: nothing but how the reply is shown is known, chunk-size and defang. */
int sbx_turn_options_read (SbxTurnOptions *self, sd_bus_message *message, gboolean only_shown,
                           sd_bus_error *ret_error);
