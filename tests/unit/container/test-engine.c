/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/engine.h"

#include <string.h>

#include "fake-docker.h"

#define V "/v1.41"
#define INSPECT                                                                                              \
  "{\"Id\":\"abc\",\"Name\":\"/"                                                                             \
  "n\",\"State\":{\"Status\":\"exited\",\"Running\":false,\"OOMKilled\":true,\"ExitCode\":137,"              \
  "\"Pid\":0,\"Error\":\"\"}}"

typedef struct {
  FakeDocker *docker;
  SbxEngine *engine;
  GAsyncResult *result;
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
  g_clear_object (&f->result);
  sbx_engine_unref (f->engine);
  fake_docker_free (f->docker);
}

static void
test_info (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxEngineInfo) info = NULL;

  fake_docker_add (
    f->docker, "GET " V "/info HTTP/1.1\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1e\r\n{\"ServerVersion\":\"20.10.24\",\"C"
    "\r\n44\r\ngroupDriver\":\"systemd\",\"Runtimes\":{\"runc\":{}},\"ContainersRunning\":3}\r\n0\r\n\r\n",
    -1, FAKE_DRIBBLE);
  sbx_engine_info_async (f->engine, 0, NULL, keep_result, &f->result);
  info = sbx_engine_info_finish (await_result (&f->result), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (info->server_version, ==, "20.10.24");
  g_assert_cmpstr (info->cgroup_driver, ==, "systemd");
  g_assert_cmpstr (info->cgroup_version, ==, "");
  g_assert_cmpstr (info->runtimes[0], ==, "runc");
  g_assert_null (info->runtimes[1]);
  g_assert_cmpint (info->containers_running, ==, 3);
}

/* Each way in which the socket's other side can fail, and what a caller learns. */
static const struct {
  const char *name;
  const char *answer; /* NULL: none */
  FakeFlags flags;
  guint timeout_ms;
  SbxEngineError code;
} failures[] = {
  { "silent", NULL, FAKE_HOLD, 100, SBX_ENGINE_ERROR_DOWN },
  { "closed", "", FAKE_CLOSE, 0, SBX_ENGINE_ERROR_DOWN },
  { "cut-head", "HTTP/1.1 200 OK\r\nCont", FAKE_CLOSE, 0, SBX_ENGINE_ERROR_DOWN },
  { "cut-body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"Ser", FAKE_CLOSE, 0, SBX_ENGINE_ERROR_DOWN },
  { "stuck-body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"Ser", FAKE_HOLD, 100,
    SBX_ENGINE_ERROR_DOWN },
  { "garbage", "+OK Dovecot ready.\r\n", FAKE_HOLD, 0, SBX_ENGINE_ERROR_ANSWER },
  { "too-large", "HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", FAKE_HOLD, 0,
    SBX_ENGINE_ERROR_ANSWER },
  { "not-json", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK", FAKE_HOLD, 0, SBX_ENGINE_ERROR_ANSWER },
  { "not-an-object", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", FAKE_HOLD, 0,
    SBX_ENGINE_ERROR_ANSWER },
  { "server-error", "HTTP/1.1 500 Oh\r\nContent-Length: 17\r\n\r\n{\"message\":\"bad\"}", FAKE_HOLD, 0,
    SBX_ENGINE_ERROR_REFUSED },
  { "html", "HTTP/1.1 502 Oh\r\nContent-Length: 6\r\n\r\n<html>", FAKE_HOLD, 0, SBX_ENGINE_ERROR_REFUSED },
};

static void
test_failures (Fixture *f, gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (failures); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", failures[i].name);
      fake_docker_add (f->docker, "GET " V "/info", failures[i].answer, -1, failures[i].flags);
      sbx_engine_info_async (f->engine, failures[i].timeout_ms, NULL, keep_result, &f->result);
      g_assert_null (sbx_engine_info_finish (await_result (&f->result), &error));
      g_assert_error (error, SBX_ENGINE_ERROR, (gint) failures[i].code);
      g_clear_object (&f->result);
    }
}

static void
test_no_socket (void)
{
  g_autoptr (SbxEngine) engine = sbx_engine_new ("/nonexistent/docker.sock");
  g_autoptr (GError) error = NULL;
  g_autoptr (GAsyncResult) result = NULL;

  sbx_engine_info_async (engine, 0, NULL, keep_result, &result);
  g_assert_null (sbx_engine_info_finish (await_result (&result), &error));
  g_assert_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN);
  g_assert_nonnull (strstr (error->message, "/nonexistent/docker.sock"));
}

static gboolean
cancel (gpointer user_data)
{
  g_cancellable_cancel (user_data);
  return G_SOURCE_REMOVE;
}

static void
test_cancelled (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  fake_docker_add (f->docker, "POST " V "/containers/abc/wait", NULL, -1, FAKE_HOLD);
  sbx_engine_container_wait_async (f->engine, "abc", 0, cancellable, keep_result, &f->result);
  while (fake_docker_n_requests (f->docker) == 0)
    g_main_context_iteration (NULL, TRUE);
  cancel (cancellable);
  g_assert_null (f->result); /* not called back from inside the cancel */
  g_assert_false (sbx_engine_container_wait_finish (await_result (&f->result), &(gint64){ 0 }, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_cancelled_before (void)
{
  g_autoptr (SbxEngine) engine = sbx_engine_new ("/nonexistent/docker.sock");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  sbx_engine_info_async (engine, 0, cancellable, keep_result, &result);
  g_assert_null (sbx_engine_info_finish (await_result (&result), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_image (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxImage) ours = NULL;
  g_autoptr (SbxImage) other = NULL;

  fake_docker_add_json (f->docker, "GET " V "/images/reg.example:5000/a/b:latest/json HTTP", 200,
                        "{\"Id\":\"sha256:1\",\"Config\":{\"Entrypoint\":[\"/worker\"],"
                        "\"Labels\":{\"org.roundtable.sandbox.worker\":\"0.1.0\"}}}");
  sbx_engine_image_inspect_async (f->engine, "reg.example:5000/a/b:latest", 0, NULL, keep_result, &f->result);
  ours = sbx_engine_image_inspect_finish (await_result (&f->result), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (ours->id, ==, "sha256:1");
  g_assert_cmpstr (ours->worker_version, ==, "0.1.0");
  g_assert_true (ours->keeps_input);
  g_clear_object (&f->result);

  fake_docker_add_json (
    f->docker, "GET " V "/images/a%20b/json HTTP", 200,
    "{\"Id\":\"sha256:2\",\"Config\":{\"Entrypoint\":[\"/worker\",\"--wipe\"],\"Labels\":null}}");
  sbx_engine_image_inspect_async (f->engine, "a b", 0, NULL, keep_result, &f->result);
  other = sbx_engine_image_inspect_finish (await_result (&f->result), &error);
  g_assert_no_error (error);
  g_assert_null (other->worker_version);
  g_assert_false (other->keeps_input);
  g_clear_object (&f->result);

  fake_docker_add_json (f->docker, "GET " V "/images/none/json", 404,
                        "{\"message\":\"No such image: none:latest\"}");
  sbx_engine_image_inspect_async (f->engine, "none", 0, NULL, keep_result, &f->result);
  g_assert_null (sbx_engine_image_inspect_finish (await_result (&f->result), &error));
  g_assert_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IMAGE_MISSING);
  g_assert_nonnull (strstr (error->message, "No such image: none:latest"));
}

static void
load (Fixture *f, const char *answer, FakeFlags flags, gsize n_bytes, GError **error)
{
  g_autofree char *data = g_strnfill (n_bytes, 'x');
  g_autoptr (GInputStream) tar = g_memory_input_stream_new_from_data (data, (gssize) n_bytes, NULL);

  fake_docker_add (f->docker, "POST " V "/images/load?quiet=1 ", answer, -1, flags);
  sbx_engine_image_load_async (f->engine, tar, 0, NULL, keep_result, &f->result);
  sbx_engine_image_load_finish (await_result (&f->result), error);
  g_clear_object (&f->result);
}

static void
test_load (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  load (f, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"stream\":\"Loaded\"}\n", FAKE_HOLD, 200000,
        &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (fake_docker_request (f->docker, 0), "Transfer-Encoding: chunked\r\n"));
  g_assert_nonnull (strstr (fake_docker_request (f->docker, 0), "\r\n\r\n10000\r\nxxx"));

  load (f,
        "HTTP/1.1 200 OK\r\n\r\n{\"stream\":\"a\"}\n{\"errorDetail\":{\"message\":\"no\"},\"error\":\"no "
        "space\"}\n",
        FAKE_CLOSE, 10, &error);
  g_assert_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_REFUSED);
  g_assert_nonnull (strstr (error->message, "no space"));
  g_clear_error (&error);

  /* dockerd refuses before it has read all of the tar, and closes. */
  load (f, "HTTP/1.1 400 Bad\r\nContent-Length: 17\r\n\r\n{\"message\":\"tar\"}", FAKE_EARLY, 4000000,
        &error);
  g_assert_error (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_REFUSED);
}

static void
test_create (Fixture *f, gconstpointer data)
{
  static const struct {
    guint status;
    const char *body;
    SbxEngineError code;
  } refusals[] = {
    { 404, "{\"message\":\"No such image: nope:latest\"}", SBX_ENGINE_ERROR_IMAGE_MISSING },
    { 409, "{\"message\":\"Conflict. The container name \\\"/n\\\" is already in use\"}",
      SBX_ENGINE_ERROR_NAME_TAKEN },
    { 400, "{\"message\":\"invalid mount config\"}", SBX_ENGINE_ERROR_REFUSED },
    { 201, "{\"Warnings\":[]}", SBX_ENGINE_ERROR_ANSWER },
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *id = NULL;

  fake_docker_add_json (f->docker, "POST " V "/containers/create?name=n-1 HTTP", 201,
                        "{\"Id\":\"abc\",\"Warnings\":[]}");
  sbx_engine_container_create_async (f->engine, "n-1", "{\"Image\":\"i\"}", 0, NULL, keep_result, &f->result);
  id = sbx_engine_container_create_finish (await_result (&f->result), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (id, ==, "abc");
  g_assert_true (g_str_has_suffix (fake_docker_request (f->docker, 0), "\r\n\r\n{\"Image\":\"i\"}"));

  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_clear_object (&f->result);
      fake_docker_add_json (f->docker, "POST " V "/containers/create?name=n HTTP", refusals[i].status,
                            refusals[i].body);
      sbx_engine_container_create_async (f->engine, "n", "{}", 0, NULL, keep_result, &f->result);
      g_assert_null (sbx_engine_container_create_finish (await_result (&f->result), &error));
      g_assert_error (error, SBX_ENGINE_ERROR, (gint) refusals[i].code);
      g_clear_error (&error);
    }
}

static void
test_run (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxContainerState) state = NULL;
  gint64 status = -1;

  fake_docker_add (f->docker, "POST " V "/containers/abc/start HTTP", "HTTP/1.1 204 No Content\r\n\r\n", -1,
                   FAKE_HOLD);
  sbx_engine_container_start_async (f->engine, "abc", 0, NULL, keep_result, &f->result);
  g_assert_true (sbx_engine_container_start_finish (await_result (&f->result), &error));
  g_clear_object (&f->result);

  /* 20.10's form, in chunks that come late */
  fake_docker_add (
    f->docker, "POST " V "/containers/abc/wait?condition=not-running HTTP",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"Error\":null,\"StatusCode\":7  }\n\r\n"
    "0\r\n\r\n",
    -1, FAKE_DRIBBLE);
  sbx_engine_container_wait_async (f->engine, "abc", 0, NULL, keep_result, &f->result);
  g_assert_true (sbx_engine_container_wait_finish (await_result (&f->result), &status, &error));
  g_assert_cmpint (status, ==, 7);
  g_clear_object (&f->result);

  fake_docker_add_json (f->docker, "GET " V "/containers/abc/json HTTP", 200, INSPECT);
  sbx_engine_container_inspect_async (f->engine, "abc", 0, NULL, keep_result, &f->result);
  state = sbx_engine_container_inspect_finish (await_result (&f->result), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (state->name, ==, "n");
  g_assert_cmpstr (state->status, ==, "exited");
  g_assert_true (state->oom_killed);
  g_assert_cmpint (state->exit_status, ==, 137);
}

static void
test_list (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) list = NULL;
  SbxContainerInfo *first = NULL;

  fake_docker_add_json (
    f->docker, "GET " V "/containers/json?all=1&filters=%7B%22label%22%3A%5B%22a%3Db%22%5D%7D HTTP", 200,
    "[{\"Id\":\"1\",\"Names\":[\"/n1\"],\"State\":\"created\",\"Labels\":{\"a\":\"b\"}},"
    "{\"Id\":\"2\",\"Names\":null,\"State\":\"running\"},7]");
  sbx_engine_container_list_async (f->engine, "a=b", 0, NULL, keep_result, &f->result);
  list = sbx_engine_container_list_finish (await_result (&f->result), &error);
  g_assert_no_error (error);
  g_assert_cmpuint (list->len, ==, 2);
  first = g_ptr_array_index (list, 0);
  g_assert_cmpstr (first->name, ==, "n1");
  g_assert_cmpstr (first->state, ==, "created");
  g_assert_cmpstr (g_hash_table_lookup (first->labels, "a"), ==, "b");
}

#define ADD(path, function) g_test_add ("/container/engine/" path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("info", test_info);
  ADD ("failures", test_failures);
  ADD ("cancelled", test_cancelled);
  ADD ("image", test_image);
  ADD ("load", test_load);
  ADD ("create", test_create);
  ADD ("run", test_run);
  ADD ("list", test_list);
  g_test_add_func ("/container/engine/no-socket", test_no_socket);
  g_test_add_func ("/container/engine/cancelled-before", test_cancelled_before);
  return g_test_run ();
}
