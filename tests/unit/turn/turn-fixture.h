/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a whole turn is tried against: a scripted Docker, a fake egress, a fake broker process and a fake
 * systemd. */
#pragma once

#include "../container/fake-docker.h"
#include "fake-egress.h"
#include "sbx-config.h"
#include "turn/turns.h"

#define CHANNEL   "test:1"
#define OWN_IMAGE "{\"Id\":\"sha256:1\",\"Config\":{\"Labels\":{\"org.roundtable.sandbox.worker\":\"1\"}}}"
#define IMAGE_THAT_RUNS(program)                                                                             \
  "{\"Id\":\"sha256:1\",\"Config\":{\"Entrypoint\":[\"" program                                              \
  "\"],\"Labels\":{\"org.roundtable.sandbox.worker\":\"" SBX_VERSION "\"}}}"
#define CURRENT_IMAGE IMAGE_THAT_RUNS ("/worker")
#define DERIVED_IMAGE IMAGE_THAT_RUNS ("/mine") /* made from ours: it has its label */
#define OTHER_IMAGE   "{\"Id\":\"sha256:1\",\"Config\":{\"Labels\":null}}"

typedef struct {
  char *top;
  FakeDocker *docker;
  FakeEgress *egress;
  SbxTurnContext context;
  SbxChannelStore *channels;
  SbxStateDir *state;
  SbxTurns *turns;
  guint n_scopes_refused; /* of the next ones */
  guint n_names_taken;    /* of the next scopes, the names are taken */
  gboolean scope_is_late; /* the next one stays in late_scope, whose result the test gives */
  GTask *late_scope;
  guint n_stopped;
  guint n_killed;
  guint n_told;
  SbxOutcome outcome;
} TurnFixture;

/* The state as a daemon opens it when it starts, and closes it. */
void turn_fixture_open_state (TurnFixture *self);
void turn_fixture_close_state (TurnFixture *self);

void turn_fixture_set_up (TurnFixture *self, gconstpointer data);
void turn_fixture_tear_down (TurnFixture *self, gconstpointer data);

/* The broker that is told by its name what to do. */
void turn_fixture_use_broker (TurnFixture *self, const char *mode);
/* The requests of a cold turn: image, create, attach, start, wait. */
#define ATTACHED 2u
#define WAITED   4u
/* What the worker was given since, behind what is in input, which may be NULL. TRUE at its end. */
gboolean turn_fixture_read_input (TurnFixture *self, GString *input);
/* Asks for a turn whose outcome is kept in the fixture. */
SbxTurn *turn_fixture_submit (TurnFixture *self);
/* Runs until nothing of any turn is left to do. */
void turn_fixture_run_out (TurnFixture *self);

/* What Docker answers: to create, attach and start, with the question for the image before, or without. */
void turn_fixture_script_made (TurnFixture *self);
void turn_fixture_script_until_start (TurnFixture *self, const char *image);
/* At whatever time. */
void turn_fixture_script_delete (TurnFixture *self);
/* A turn that is over at once may not come to that question. */
void turn_fixture_script_wait_held (TurnFixture *self);
/* The answer that wait, which was the n-th request, is held for: killed. */
void turn_fixture_worker_ends (TurnFixture *self, guint n);

void turn_fixture_assert_failed (TurnFixture *self, SbxFailure failure);
