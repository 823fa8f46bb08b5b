/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the files of the manager share: manager.c (the object), run-turn.c, manager-methods.c, status.c. */
#pragma once

#include "base/names.h"
#include "daemon/manager.h"

#define SBX_ACTION(name) SBX_BUS_NAME "." name

struct _SbxManager {
  SbxDaemon *daemon;
  void (*claimed) (gboolean fine, const char *why, gpointer user_data);
  gpointer user_data;
  sd_bus *bus; /* borrowed; NULL while there is none */
  sd_bus_slot *object_slot;
  sd_bus_slot *name_slot;
  GCancellable *cancellable; /* of the calls on this bus */
  GPtrArray *runs;           /* callers of RunTurn who wait */
  GSource *changed_source;
};

/* A method call that waits for its verdict. */
typedef struct {
  SbxManager *manager;
  sd_bus_message *message;
  char *text;
  gboolean flag;
} SbxManagerCall;

int sbx_method_run_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_set_channel_mode (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_get_channel_mode (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_cancel_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_list_turns (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_purge_channel (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_get_status (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);

/* Cancels the turns of all callers who wait. */
void sbx_manager_drop_runs (SbxManager *self);
void sbx_run_free (gpointer run);

SbxManagerCall *
sbx_manager_call_new (SbxManager *manager, sd_bus_message *message, const char *text, gboolean flag);
void sbx_manager_call_free (SbxManagerCall *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxManagerCall, sbx_manager_call_free)

/* Answers a call with a GError; takes nothing. */
void sbx_manager_reply_error (sd_bus_message *message, const GError *error);

/* A valid channel key; else sets ret_error and gives a negative errno. */
int sbx_manager_check_channel (const char *channel, sd_bus_error *ret_error);
