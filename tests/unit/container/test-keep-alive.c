/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Connections that calls share one after the other, and what is remembered of an image. */
#include "container/image-watch.h"

#include <string.h>

#include "fake-docker.h"

#define V       "/v1.41"
#define STARTED "HTTP/1.1 204 No Content\r\n\r\n"
#define IMAGE   "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"Id\":\"i-1\"}"

typedef struct {
  FakeDocker *docker;
  SbxEngine *engine;
  guint n_changed;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  f->docker = fake_docker_new ();
  f->engine = sbx_engine_new (fake_docker_path (f->docker));
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  sbx_engine_unref (f->engine);
  fake_docker_free (f->docker);
}

static void
start (Fixture *f)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  sbx_engine_container_start_async (f->engine, "abc", 0, NULL, keep_result, &result);
  g_assert_true (sbx_engine_container_start_finish (await_result (&result), &error));
  g_assert_no_error (error);
}

static void
script_start (Fixture *f, const char *answer, FakeFlags flags)
{
  fake_docker_add (f->docker, "POST " V "/containers/abc/start HTTP", answer, -1, flags);
}

static void
test_shared (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 3; i++)
    script_start (f, STARTED, FAKE_HOLD);
  for (guint i = 0; i < 3; i++)
    start (f);
  g_assert_cmpuint (fake_docker_n_connections (f->docker), ==, 1);
}

/* What is said after which a connection is not used again. */
static const char *const last_words[] = {
  "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
  "HTTP/1.0 204 No Content\r\n\r\n",
  "HTTP/1.1 204 No Content\r\n\r\nmore",
  "HTTP/1.1 200 OK\r\n\r\nto the end",
};

static void
test_not_shared (Fixture *f, gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (last_words); i++)
    {
      script_start (f, last_words[i], i + 1 < G_N_ELEMENTS (last_words) ? FAKE_HOLD : FAKE_CLOSE);
      start (f);
      g_assert_cmpuint (fake_docker_n_connections (f->docker), ==, i + 1);
    }
}

static void
test_closed_while_idle (Fixture *f, gconstpointer data)
{
  script_start (f, STARTED, FAKE_HOLD);
  script_start (f, STARTED, FAKE_HOLD);
  start (f);
  fake_docker_close (f->docker, 0);
  start (f);
  g_assert_cmpuint (fake_docker_n_connections (f->docker), ==, 2);
}

/* It ends when the question is there already, unread: asked once more, and only once. */
static void
test_closed_at_use (Fixture *f, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  script_start (f, STARTED, FAKE_HOLD);
  script_start (f, "", FAKE_CLOSE);
  script_start (f, STARTED, FAKE_HOLD);
  start (f);
  start (f);
  g_assert_cmpuint (fake_docker_n_connections (f->docker), ==, 2);

  script_start (f, "", FAKE_CLOSE);
  script_start (f, "", FAKE_CLOSE);
  sbx_engine_container_start_async (f->engine, "abc", 0, NULL, keep_result, &result);
  g_assert_false (sbx_engine_container_start_finish (await_result (&result), &error));
  g_assert_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN);
}

/* Nothing stays open, whatever Docker would like. */
static void
test_without_pool (Fixture *f, gconstpointer data)
{
  SbxEngine *pooled = f->engine;

  f->engine = sbx_engine_new_without_pool (pooled);
  sbx_engine_unref (pooled);
  for (guint i = 0; i < 3; i++)
    {
      script_start (f, STARTED, FAKE_HOLD);
      start (f);
      g_assert_nonnull (strstr (fake_docker_request (f->docker, i), "\r\nConnection: close\r\n"));
      g_assert_cmpuint (fake_docker_n_connections (f->docker), ==, i + 1);
    }
}

/* A container that may have been made is never asked for twice. */
static void
test_creation_is_not_repeated (Fixture *f, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  script_start (f, STARTED, FAKE_HOLD);
  fake_docker_add (f->docker, "POST " V "/containers/create?name=n HTTP", "", -1, FAKE_CLOSE);
  start (f);
  sbx_engine_container_create_async (f->engine, "n", "{}", 0, NULL, keep_result, &result);
  g_assert_null (sbx_engine_container_create_finish (await_result (&result), &error));
  g_assert_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN);
}

/* --- images --- */

static void
on_changed (gpointer user_data)
{
  ((Fixture *) user_data)->n_changed++;
}

static void
ask (SbxImageWatch *watch, const char *name)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxImage) image = NULL;

  sbx_image_watch_ask_async (watch, name, NULL, keep_result, &result);
  image = sbx_image_watch_ask_finish (await_result (&result), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (image->id, ==, "i-1");
}

static void
test_image_is_remembered (Fixture *f, gconstpointer data)
{
  g_autoptr (SbxImageWatch) watch = sbx_image_watch_new (f->engine, on_changed, f);

  fake_docker_add (f->docker, "GET " V "/images/one/json", IMAGE, -1, FAKE_HOLD);
  ask (watch, "one");
  ask (watch, "one");
  g_assert_cmpstr (sbx_image_watch_known (watch, "one")->id, ==, "i-1");
  g_assert_null (sbx_image_watch_known (watch, "two"));

  /* One name at a time: another takes its place. */
  fake_docker_add (f->docker, "GET " V "/images/two/json", IMAGE, -1, FAKE_HOLD);
  ask (watch, "two");
  g_assert_null (sbx_image_watch_known (watch, "one"));

  g_assert_true (fake_docker_tell_event (f->docker));
  while (f->n_changed == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_null (sbx_image_watch_known (watch, "two"));
  fake_docker_add (f->docker, "GET " V "/images/two/json", IMAGE, -1, FAKE_HOLD);
  ask (watch, "two");
  g_assert_nonnull (sbx_image_watch_known (watch, "two"));
}

/* An event while Docker is being asked: its answer may be the old one. */
static void
test_image_changes_meanwhile (Fixture *f, gconstpointer data)
{
  g_autoptr (SbxImageWatch) watch = sbx_image_watch_new (f->engine, on_changed, f);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (SbxImage) image = NULL;

  fake_docker_add (f->docker, "GET " V "/images/one/json", IMAGE, -1, FAKE_HOLD | FAKE_DRIBBLE);
  sbx_image_watch_ask_async (watch, "one", NULL, keep_result, &result);
  while (!fake_docker_tell_event (f->docker))
    g_main_context_iteration (NULL, TRUE);
  image = sbx_image_watch_ask_finish (await_result (&result), NULL);
  g_assert_nonnull (image);
  g_assert_cmpuint (f->n_changed, ==, 1);
  g_assert_null (sbx_image_watch_known (watch, "one"));
}

/* Without events nothing is remembered, and the next question asks for them again. */
static void
test_events_end (Fixture *f, gconstpointer data)
{
  g_autoptr (SbxImageWatch) watch = sbx_image_watch_new (f->engine, on_changed, f);

  fake_docker_add (f->docker, "GET " V "/images/one/json", IMAGE, -1, FAKE_HOLD);
  ask (watch, "one");
  fake_docker_end_events (f->docker);
  while (f->n_changed == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_null (sbx_image_watch_known (watch, "one"));
  fake_docker_add (f->docker, "GET " V "/images/one/json", IMAGE, -1, FAKE_HOLD);
  ask (watch, "one");
  g_assert_nonnull (sbx_image_watch_known (watch, "one"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function) g_test_add ("/container/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("keep-alive/shared", test_shared);
  ADD ("keep-alive/not-shared", test_not_shared);
  ADD ("keep-alive/closed-while-idle", test_closed_while_idle);
  ADD ("keep-alive/closed-at-use", test_closed_at_use);
  ADD ("keep-alive/without-pool", test_without_pool);
  ADD ("keep-alive/creation-is-not-repeated", test_creation_is_not_repeated);
  ADD ("image-watch/remembered", test_image_is_remembered);
  ADD ("image-watch/changes-meanwhile", test_image_changes_meanwhile);
  ADD ("image-watch/events-end", test_events_end);
  return g_test_run ();
}
