/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What all turns and sandboxes share. Owned by the daemon, outlives every one of them. */
#pragma once

#include <gio/gio.h>
#include <systemd/sd-bus.h>

#include "config/settings.h"
#include "container/image-watch.h"
#include "turn/broker-process.h"
#include "turn/egress-client.h"
#include "turn/reaper.h"
#include "turn/record-store.h"
#include "turn/resets.h"
#include "turn/rest.h"

typedef struct _SbxPrepared SbxPrepared;

typedef struct {
  SbxSettings *settings;
  GPtrArray *tools; /* of SbxToolTarget, those on offer */
  SbxEngine *engine;
  SbxImageWatch *images;
  SbxEgressClient *egress;
  SbxReaper *reaper;
  SbxRecordStore *records;
  SbxResets *resets;
  const SbxScopeMaker *scopes;
  gpointer scopes_self;
  sd_bus *bus;           /* for bus providers; NULL while there is none */
  GHashTable *sandboxes; /* id to SbxSandbox, of those that are not gone; borrowed */
  SbxPrepared *prepared; /* NULL: every turn makes its own; borrowed */
  SbxRest *rest;
  char *installation;
  char *run_root;
  char *workspaces_root;
  char *broker_program;
  guint32 worker_uid;
  guint32 worker_gid;
} SbxTurnContext;

/* Frees what it holds; what runs on it must have ended. A zeroed one is fine. */
void sbx_turn_context_clear (SbxTurnContext *self);
