/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the files of the manager share: manager.c (its object), objects.c (those below it), run-private.h
 * (what begins turns or waits for them), and the other methods, a file each or a few. */
#pragma once

#include "base/names.h"
#include "daemon/guard.h"
#include "daemon/manager.h"
#include "daemon/private-socket.h"

#define SBX_ACTION(name) SBX_BUS_NAME "." name

struct _SbxManager {
  SbxDaemon *daemon;
  void (*claimed) (gboolean fine, const char *why, gpointer user_data);
  gpointer user_data;
  sd_bus *bus;      /* the system bus, borrowed; NULL while there is none */
  GPtrArray *slots; /* of our objects on it */
  sd_bus_slot *name_slot;
  SbxGuard *guard;
  GCancellable *cancellable; /* of the calls on this bus */
  GPtrArray *runs;           /* callers who wait for a turn, see run-private.h */
  GSource *changed_source;
  SbxPrivateSocket *private_socket; /* NULL: none */
};

/* A method call that waits for its verdict. */
typedef struct {
  SbxManager *manager;
  sd_bus_message *message;
  char *text;
  gboolean flag;
} SbxManagerCall;

int sbx_method_run_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_reload (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_start_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_deliver (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_find_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_wait (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_start_fresh (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_list_channels (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_set_channel_mode (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_get_channel_mode (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_cancel_turn (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_list_turns (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_purge_channel (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_get_statistics (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);
int sbx_method_get_status (sd_bus_message *message, void *user_data, sd_bus_error *ret_error);

/* Cancels the turns of all callers on this bus who wait. */
void sbx_manager_drop_runs (SbxManager *self, sd_bus *bus);
void sbx_run_free (gpointer run);
/* Drops the turns of a caller who leaves the bus. One match for all of them: a bus allows so many (512 by
 * default), and libsystemd gives the whole connection up when it refuses one. */
int sbx_manager_watch_callers (SbxManager *self, sd_bus *bus, GPtrArray *slots);

SbxManagerCall *
sbx_manager_call_new (SbxManager *manager, sd_bus_message *message, const char *text, gboolean flag);
void sbx_manager_call_free (SbxManagerCall *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxManagerCall, sbx_manager_call_free)

/* Answers a call with a GError; takes nothing. */
void sbx_manager_reply_error (sd_bus_message *message, const GError *error);
/* Answers it with reply, or with an error where filling reply has failed: r is negative then. */
void sbx_manager_send_reply (sd_bus_message *message, sd_bus_message *reply, int r);

/* Begins a method that needs no more than one action and, unless NULL or empty, a channel: allowed gets an
 * SbxManagerCall with that as its text. Returns as a handler does. */
int sbx_manager_ask (SbxManager *self, sd_bus_message *message, const char *action, const char *channel,
                     GAsyncReadyCallback allowed);

/* polkit's details of a turn: details becomes "turn", id, "channel", key, NULL. Borrowed until the next
 * change. */
void sbx_manager_turn_details (SbxManager *self, const char *turn, const char *details[5]);

/* What Channel.SetMode and Turn.Cancel share with the manager's methods; return as a handler does. */
int sbx_manager_set_mode (SbxManager *self, sd_bus_message *message, const char *channel, const char *mode,
                          sd_bus_error *ret_error);
int sbx_manager_start_fresh (SbxManager *self, sd_bus_message *message, const char *channel);
int sbx_manager_cancel (SbxManager *self, sd_bus_message *message, const char *turn);

/* Calls func with every bus that signals go to. */
void sbx_manager_foreach_bus (SbxManager *self, void (*func) (sd_bus *bus, gpointer user_data),
                              gpointer user_data);

/* objects.c: the objects below the manager's. slots: see sbx_manager_keep_slot(). */
int sbx_objects_add (SbxManager *self, sd_bus *bus, GPtrArray *slots);
/* Free with g_free(). */
char *sbx_turn_path (const char *turn);
char *sbx_channel_path (const char *channel);
/* The id in a turn's path; NULL where it is none. */
const char *sbx_turn_of_path (const char *path);

/* A slot is kept in slots, or lives as long as the bus where slots is NULL. */
int sbx_manager_keep_slot (GPtrArray *slots, sd_bus_slot *slot);

/* A valid channel key; else sets ret_error and gives a negative errno. */
int sbx_manager_check_channel (const char *channel, sd_bus_error *ret_error);
