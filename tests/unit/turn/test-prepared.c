/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Turns whose sandbox was made ahead, and what becomes of those that wait. */
#include "turn-fixture.h"
#include "turn/prepared.h"

#include <string.h>

#define NEW_IMAGE "{\"Id\":\"sha256:2\",\"Config\":{\"Labels\":{\"org.roundtable.sandbox.worker\":\"1\"}}}"

typedef struct {
  TurnFixture base;
  SbxPrepared *prepared;
  gboolean stopped;
} Fixture;

static void
on_images_changed (gpointer user_data)
{
  sbx_prepared_images_changed (((Fixture *) user_data)->prepared);
}

static void
set_up (Fixture *self, gconstpointer data)
{
  turn_fixture_set_up (&self->base, data);
  turn_fixture_use_broker (&self->base, "reply");
  sbx_image_watch_free (self->base.context.images);
  self->base.context.images = sbx_image_watch_new (self->base.context.engine, on_images_changed, self);
  self->prepared = sbx_prepared_new (&self->base.context, NULL, NULL);
  self->base.context.prepared = self->prepared;
}

static void
on_stopped (gpointer user_data)
{
  ((Fixture *) user_data)->stopped = TRUE;
}

/* Nothing of any is left when all have stopped. */
static void
tear_down (Fixture *self, gconstpointer data)
{
  g_autoptr (GDir) directory = NULL;

  sbx_prepared_stop (self->prepared, on_stopped, self);
  while (!self->stopped)
    g_main_context_iteration (NULL, TRUE);
  directory = g_dir_open (self->base.context.run_root, 0, NULL);
  g_assert_null (g_dir_read_name (directory));
  g_assert_cmpuint (sbx_reaper_n_left (self->base.context.reaper), ==, 0);
  sbx_prepared_free (self->prepared);
  turn_fixture_tear_down (&self->base, data);
}

/* How many requests have that in their first line. */
static guint
n_requests (Fixture *self, const char *word)
{
  guint n = 0;

  for (guint i = 0; i < fake_docker_n_requests (self->base.docker); i++)
    {
      const char *request = fake_docker_request (self->base.docker, i);

      n += g_strstr_len (request, (gssize) strcspn (request, "\r"), word) != NULL ? 1 : 0;
    }
  return n;
}

static guint
n_containers (Fixture *self)
{
  return n_requests (self, "/create?");
}

/* Until so many outcomes were told, nothing of a turn is left, and so many wait. */
static void
run_until (Fixture *self, guint n_told, guint n_waiting)
{
  while (self->base.n_told < n_told || sbx_turns_n_running (self->base.turns) > 0
         || sbx_prepared_n_waiting (self->prepared) != n_waiting
         || g_hash_table_size (self->base.context.sandboxes) != n_waiting)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (self->base.n_told, ==, n_told);
}

static void
assert_replied (Fixture *self)
{
  g_assert_cmpint (self->base.outcome.kind, ==, SBX_OUTCOME_REPLIED);
  g_assert_cmpstr (self->base.outcome.text, ==, "hello guest");
}

/* One whole: made, and removed sooner or later. */
static void
script_sandbox (Fixture *self)
{
  turn_fixture_script_made (&self->base);
  turn_fixture_script_wait_held (&self->base);
  turn_fixture_script_delete (&self->base);
}

/* A cold turn, and the next one waits. */
static void
first_turn (Fixture *self)
{
  fake_docker_add_json (self->base.docker, "GET /v1.41/images/", 200, OWN_IMAGE);
  script_sandbox (self);
  script_sandbox (self);
  (void) turn_fixture_submit (&self->base);
  run_until (self, 1, 1);
  assert_replied (self);
}

/* Docker creates the container and does not start it: the turn gets another, once. */
static void
test_start_is_refused (Fixture *self, gconstpointer data)
{
  const gboolean again = data != NULL;

  fake_docker_add_json (self->base.docker, "GET /v1.41/images/", 200, OWN_IMAGE);
  for (guint i = 0; i < (again ? 2 : 1); i++)
    {
      fake_docker_add_json (self->base.docker, "POST /v1.41/containers/create?name=roundtable-sandbox-", 201,
                            "{\"Id\":\"abc\",\"Warnings\":[]}");
      fake_docker_add (self->base.docker, "POST /v1.41/containers/roundtable-sandbox-*/attach?",
                       "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n", -1, FAKE_HOLD);
      fake_docker_add_json (self->base.docker, "POST /v1.41/containers/roundtable-sandbox-*/start", 500,
                            "{\"message\":\"OCI runtime create failed: no such cgroup\"}");
      turn_fixture_script_delete (&self->base);
    }
  if (!again)
    {
      script_sandbox (self);
      script_sandbox (self);
    }
  (void) turn_fixture_submit (&self->base);
  if (again)
    {
      while (self->base.n_told == 0)
        g_main_context_iteration (NULL, TRUE);
      /* What would be prepared next is not what this is about. */
      sbx_prepared_drop (self->prepared, CHANNEL);
      run_until (self, 1, 0);
      turn_fixture_assert_failed (&self->base, SBX_FAILURE_DOCKER_REFUSED);
    }
  else
    {
      run_until (self, 1, 1);
      assert_replied (self);
      g_assert_cmpuint (n_containers (self), ==, 3);
    }
}

/* The number of the n-th request, from 0, that has word in its first line. */
static guint
nth_request (Fixture *self, const char *word, guint n)
{
  for (guint i = 0; i < fake_docker_n_requests (self->base.docker); i++)
    {
      const char *request = fake_docker_request (self->base.docker, i);

      if (g_strstr_len (request, (gssize) strcspn (request, "\r"), word) != NULL && n-- == 0)
        return i;
    }
  g_assert_not_reached ();
}

/* The stream of the n-th container ends, as it does when its worker or dockerd dies. */
static void
break_stream (Fixture *self, guint n)
{
  fake_docker_close (self->base.docker, nth_request (self, "/attach?", n));
}

static void
test_used_by_the_next_turn (Fixture *self, gconstpointer data)
{
  g_autofree char *second = NULL;

  first_turn (self);
  /* No right to call out, and no speaker, is in one that waits. */
  g_assert_cmpuint (fake_egress_n_announced (self->base.egress), ==, 1);
  second = g_strdup (fake_docker_request (self->base.docker, nth_request (self, "/create?", 1)));
  g_assert_null (strstr (second, "Ada"));
  script_sandbox (self);
  (void) turn_fixture_submit (&self->base);
  run_until (self, 2, 1);
  assert_replied (self);
  g_assert_cmpuint (fake_egress_n_announced (self->base.egress), ==, 2);
  /* Two turns and one that waits: none was used twice, none was made for the second turn itself. */
  g_assert_cmpuint (n_containers (self), ==, 3);
}

static void
test_dies_while_it_waits (Fixture *self, gconstpointer data)
{
  first_turn (self);
  break_stream (self, 1);
  run_until (self, 1, 0);
  /* The next turn makes its own, and then one for its successor. */
  script_sandbox (self);
  script_sandbox (self);
  (void) turn_fixture_submit (&self->base);
  run_until (self, 2, 1);
  assert_replied (self);
  g_assert_cmpuint (n_containers (self), ==, 4);
}

/* Dead by the time of its use, and nobody has told yet. */
static void
test_dies_at_use (Fixture *self, gconstpointer data)
{
  first_turn (self);
  script_sandbox (self);
  script_sandbox (self);
  (void) turn_fixture_submit (&self->base);
  break_stream (self, 1);
  run_until (self, 2, 1);
  assert_replied (self);
  g_assert_cmpuint (n_containers (self), ==, 4);
}

/* It dies while the egress is being asked: the turn begins in another, with the right that it has. */
static void
test_dies_behind_the_announcement (Fixture *self, gconstpointer data)
{
  SbxTurn *turn;

  first_turn (self);
  script_sandbox (self);
  script_sandbox (self);
  turn = turn_fixture_submit (&self->base);
  while (sbx_turn_state (turn) != SBX_TURN_STATE_PREPARING)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (sbx_prepared_n_waiting (self->prepared), ==, 0);
  break_stream (self, 1);
  run_until (self, 2, 1);
  assert_replied (self);
  g_assert_cmpuint (fake_egress_n_announced (self->base.egress), ==, 2);
  g_assert_cmpuint (n_containers (self), ==, 4);
}

static void
test_channel_is_dropped (Fixture *self, gconstpointer data)
{
  first_turn (self);
  sbx_prepared_drop (self->prepared, CHANNEL);
  g_assert_cmpuint (sbx_prepared_n_waiting (self->prepared), ==, 0);
  run_until (self, 1, 0);
  g_assert_cmpuint (n_containers (self), ==, 2);
}

static void
test_configuration_is_another (Fixture *self, gconstpointer data)
{
  first_turn (self);
  script_sandbox (self);
  sbx_prepared_reconfigure (self->prepared);
  g_assert_cmpuint (sbx_prepared_n_waiting (self->prepared), ==, 0);
  run_until (self, 1, 1);
  g_assert_cmpuint (n_containers (self), ==, 3);
}

static void
test_containerd_is_another (Fixture *self, gconstpointer data)
{
  first_turn (self);
  script_sandbox (self);
  sbx_prepared_containerd_changed (self->prepared);
  g_assert_cmpuint (sbx_prepared_n_waiting (self->prepared), ==, 0);
  run_until (self, 1, 1);
  g_assert_cmpuint (n_containers (self), ==, 3);
}

static void
test_switched_off (Fixture *self, gconstpointer data)
{
  first_turn (self);
  self->base.context.settings->config->prepared_turns = 0;
  sbx_prepared_reconfigure (self->prepared);
  run_until (self, 1, 0);
  script_sandbox (self);
  (void) turn_fixture_submit (&self->base);
  run_until (self, 2, 0);
  assert_replied (self);
}

/* Only where the name stands for another image. */
static void
test_image_is_another (Fixture *self, gconstpointer data)
{
  first_turn (self);
  fake_docker_add_json (self->base.docker, "GET /v1.41/images/", 200, OWN_IMAGE);
  g_assert_true (fake_docker_tell_event (self->base.docker));
  while (n_requests (self, "/images/") < 2)
    g_main_context_iteration (NULL, TRUE);
  run_until (self, 1, 1);
  g_assert_cmpuint (n_containers (self), ==, 2);

  fake_docker_add_json (self->base.docker, "GET /v1.41/images/", 200, NEW_IMAGE);
  script_sandbox (self);
  g_assert_true (fake_docker_tell_event (self->base.docker));
  while (n_containers (self) < 3)
    g_main_context_iteration (NULL, TRUE);
  run_until (self, 1, 1);
  g_assert_nonnull (
    strstr (fake_docker_request (self->base.docker, nth_request (self, "/create?", 2)), "\"sha256:2\""));
}

/* Between the event and Docker's answer nobody knows: the turn makes its own. */
static void
test_image_is_unknown (Fixture *self, gconstpointer data)
{
  first_turn (self);
  fake_docker_add_json (self->base.docker, "GET /v1.41/images/", 200, NEW_IMAGE);
  fake_docker_add_json (self->base.docker, "GET /v1.41/images/", 200, NEW_IMAGE);
  script_sandbox (self);
  script_sandbox (self);
  g_assert_true (fake_docker_tell_event (self->base.docker));
  while (sbx_image_watch_known (self->base.context.images, self->base.context.settings->config->image)
         != NULL)
    g_main_context_iteration (NULL, TRUE);
  (void) turn_fixture_submit (&self->base);
  run_until (self, 2, 1);
  assert_replied (self);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add ("/turn/prepared/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("start-is-refused", test_start_is_refused);
  g_test_add ("/turn/prepared/start-is-refused-again", Fixture, "again", set_up, test_start_is_refused,
              tear_down);
  ADD ("used-by-the-next-turn", test_used_by_the_next_turn);
  ADD ("dies-while-it-waits", test_dies_while_it_waits);
  ADD ("dies-at-use", test_dies_at_use);
  ADD ("dies-behind-the-announcement", test_dies_behind_the_announcement);
  ADD ("channel-is-dropped", test_channel_is_dropped);
  ADD ("configuration-is-another", test_configuration_is_another);
  ADD ("containerd-is-another", test_containerd_is_another);
  ADD ("switched-off", test_switched_off);
  ADD ("image-is-another", test_image_is_another);
  ADD ("image-is-unknown", test_image_is_unknown);
  return g_test_run ();
}
