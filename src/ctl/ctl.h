/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandboxctl: what its verbs share. A client that an operator runs: its calls block, and it ends after one of
 * them. */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "ctl/agent.h"
#include "ctl/explain.h"
#include "ctl/table.h"

typedef struct {
  /* options */
  SbxJsonMode json;
  gboolean no_legend;
  gboolean no_ask_password;
  gboolean dry_run;
  char *host;
  char *socket; /* the private socket's path; NULL: the system bus */
  char *speaker_id;
  char *speaker_name;
  char *principal;
  int timeout_sec;
  int lines;
  char *since;
  char *until;
  gboolean follow;
  gboolean watch;
  gboolean no_turn;
  /* opened by the first call */
  sd_bus *bus;
  SbxAgent *agent; /* NULL: nobody could be asked for a password, or nobody has to be */
} SbxCtl;

typedef SbxExit (*SbxVerbFunc) (SbxCtl *ctl, int n_words, char **words);

SbxExit sbx_verb_on (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_off (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_channels (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_fresh (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_reload (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_stats (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_status (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_run (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_turns (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_cancel (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_image (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_check (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_log (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_tools (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_purge (SbxCtl *ctl, int n_words, char **words);
SbxExit sbx_verb_cleanup (SbxCtl *ctl, int n_words, char **words);

/* --- calls to sandboxd's manager --- */

typedef sd_bus_message SbxMessage;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxMessage, sd_bus_message_unref)

/* Opens the bus, unless it is open. Returns a negative errno, said on standard error and *ret_exit set, where
 * it cannot be reached. */
int sbx_ctl_connect (SbxCtl *ctl, const char *what, SbxExit *ret_exit);

/* Begins a call; NULL, said on standard error and *ret_exit set, where the bus cannot be reached. */
SbxMessage *sbx_ctl_call_new (SbxCtl *ctl, const char *method, const char *what, SbxExit *ret_exit);

/* Sends it and waits; 0 timeout_sec is the usual limit. NULL as above: the error has been explained. r is
 * what appending the arguments gave. */
SbxMessage *
sbx_ctl_call (SbxCtl *ctl, SbxMessage *call, int r, int timeout_sec, const char *what, SbxExit *ret_exit);

/* Calls method once for each of words (NULL-terminated), with it and, unless NULL, with more behind it. All
 * are tried; the first failure is what is returned. */
SbxExit sbx_ctl_call_each (SbxCtl *ctl, const char *method, char **words, const char *more, const char *what);

/* Says that the service's answer is not what this version expects. */
SbxExit sbx_ctl_bad_answer (int r, const char *what);

/* Whether standard output is a terminal that shows colours, and its user wants them (https://no-color.org).
 */
gboolean sbx_ctl_has_color (void);

/* Prints it as the options want it. */
void sbx_ctl_print_table (SbxCtl *ctl, const SbxTable *table);
