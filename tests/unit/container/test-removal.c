/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/removal.h"

#include "fake-docker.h"

#define DELETE "DELETE /v1.41/containers/abc?force=1&v=1 HTTP"
#define LOOK   "GET /v1.41/containers/abc/json HTTP"
#define BUSY   "{\"message\":\"removal of container abc is already in progress\"}"
#define GONE   "{\"message\":\"No such container: abc\"}"

typedef struct {
  const char *expected;
  guint status; /* 0: closed without an answer */
  const char *body;
} Step;

static const struct {
  const char *name;
  gint code; /* -1: removed */
  Step steps[6];
} cases[] = {
  { "at-once", -1, { { DELETE, 204, "" } } },
  { "gone-before", -1, { { DELETE, 404, GONE } } },
  { "busy-then-gone", -1, { { DELETE, 409, BUSY }, { LOOK, 200, "{\"Id\":\"abc\"}" }, { LOOK, 404, GONE } } },
  { "second-try", -1, { { DELETE, 500, "{\"message\":\"driver failed\"}" }, { DELETE, 204, "" } } },
  { "restart", -1, { { DELETE, 0, NULL }, { DELETE, 0, NULL }, { DELETE, 404, GONE } } },
  { "stubborn",
    SBX_ENGINE_ERROR_REFUSED,
    { { DELETE, 500, "{}" }, { DELETE, 500, "{}" }, { DELETE, 500, "{}" } } },
  { "down", SBX_ENGINE_ERROR_DOWN, { { DELETE, 0, NULL }, { DELETE, 0, NULL }, { DELETE, 0, NULL } } },
  { "busy-then-lost", -1, { { DELETE, 409, BUSY }, { LOOK, 0, NULL }, { DELETE, 204, "" } } },
};

static void
test_case (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  g_autoptr (FakeDocker) docker = fake_docker_new ();
  g_autoptr (SbxEngine) engine = sbx_engine_new (fake_docker_path (docker));
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  for (const Step *step = cases[i].steps; step->expected != NULL; step++)
    {
      if (step->status == 0)
        fake_docker_add (docker, step->expected, "", 0, FAKE_CLOSE);
      else
        fake_docker_add_json (docker, step->expected, step->status, step->body);
    }
  sbx_removal_async (engine, "abc", NULL, keep_result, &result);
  if (sbx_removal_finish (await_result (&result), &error))
    g_assert_cmpint (cases[i].code, ==, -1);
  else
    g_assert_error (error, SBX_ENGINE_ERROR, cases[i].code);
}

static gboolean
cancel (gpointer user_data)
{
  g_cancellable_cancel (user_data);
  return G_SOURCE_REMOVE;
}

/* A removal that another hand never finishes: it can be given up. */
static void
test_cancelled (void)
{
  g_autoptr (FakeDocker) docker = fake_docker_new ();
  g_autoptr (SbxEngine) engine = sbx_engine_new (fake_docker_path (docker));
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  fake_docker_add_json (docker, DELETE, 409, BUSY);
  fake_docker_add (docker, LOOK, NULL, 0, FAKE_HOLD);
  sbx_removal_async (engine, "abc", cancellable, keep_result, &result);
  while (fake_docker_n_requests (docker) < 2)
    g_main_context_iteration (NULL, TRUE);
  g_idle_add (cancel, cancellable);
  g_assert_false (sbx_removal_finish (await_result (&result), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/container/removal/", cases[i].name, NULL);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_case);
    }
  g_test_add_func ("/container/removal/cancelled", test_cancelled);
  return g_test_run ();
}
