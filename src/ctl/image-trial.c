/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/image-trial.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/installation.h"
#include "base/names.h"
#include "base/source.h"
#include "broker/worker-output.h"
#include "container/attach-stream.h"
#include "container/removal.h"
#include "container/spec.h"
#include "ctl/engine-wait.h"
#include "ctl/image-judge.h"

#define TRIAL_DIR "/run/roundtable-sandbox-check-XXXXXX"
/* How long a prepared worker is left without its turn, and what a turn or an end may take. */
#define IDLE_MSEC  1500u
#define TURN_MSEC  60000u
#define END_MSEC   10000u
#define DRAIN_MSEC 5000u

#define TURN(more)                                                                                           \
  "{\"text\":\"Hello\",\"speaker\":{\"id\":\"1\",\"name\":\"Self-test\"" more "},\"model\":\"self-test\","   \
  "\"prompt\":\"This is a "                                                                                  \
  "self-test.\",\"timeZone\":\"Europe/Berlin\",\"tools\":[{\"name\":\"" SBX_JUDGE_TOOL                       \
  "\",\"description\":\"Says that all is "                                                                   \
  "well.\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}],\"mcp\":[]"

typedef struct {
  SbxEngine *engine;
  const SbxConfig *config;
  const char *image;
  gboolean own_image;
  gboolean keeps_input; /* as in a turn */
  uid_t uid;
  gid_t gid;
  char *installation;
  char *top;
  char *run_dir;
  char *workspace;
  SbxJudge *judge;
  gboolean broken;
} Trial;

/* What came of one container. */
typedef struct {
  SbxFd fd;
  GSource *watch;
  SbxWorkerOutput *output; /* NULL once there is a verdict */
  gboolean started;
  gboolean early; /* it ended, or wrote, or called, before its turn came */
  gboolean ended;
  gint64 exit_status;
  SbxOutputVerdict verdict;
  SbxControlReply reply;
  SbxFailure failure;
} Run;

static void
run_clear (Run *self)
{
  sbx_source_clear (&self->watch);
  g_clear_pointer (&self->output, sbx_worker_output_free);
  sbx_control_reply_clear (&self->reply);
  sbx_fd_close (self->fd);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static void
trial_say (Trial *self, gboolean kept, const char *rule, const char *what)
{
  if (kept)
    g_print ("ok      %s\n", rule);
  else
    g_print ("BROKEN  %s: %s\n", rule, what);
  self->broken |= !kept;
}

static gboolean
on_output (int fd, GIOCondition condition, gpointer user_data)
{
  Run *self = user_data;
  guint8 piece[65536];
  gssize n = read (fd, piece, sizeof piece);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (n > 0 && self->output != NULL)
    self->verdict = sbx_worker_output_feed (self->output, piece, (gsize) n, &self->reply, &self->failure);
  else if (n <= 0 && self->output != NULL)
    self->verdict = sbx_worker_output_end (self->output, &self->reply, &self->failure);
  if (self->verdict != SBX_OUTPUT_MORE)
    g_clear_pointer (&self->output, sbx_worker_output_free);
  if (n > 0)
    return G_SOURCE_CONTINUE;
  g_clear_pointer (&self->watch, g_source_unref);
  return G_SOURCE_REMOVE;
}

static gboolean
on_time (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Runs the main loop for so long, or until the output has ended. */
static void
iterate (const Run *run, guint msec)
{
  gboolean over = FALSE;
  guint source = g_timeout_add (msec, on_time, &over);

  while (!over && run->watch != NULL)
    g_main_context_iteration (NULL, TRUE);
  if (!over)
    g_source_remove (source);
}

static gboolean
start_container (Trial *self, Run *run, const char *name, GError **error)
{
  g_autofree char *channel = g_compute_checksum_for_string (G_CHECKSUM_SHA256, "self-test", -1);
  const SbxContainerSpec spec = {
    .image = self->image,
    .installation = self->installation,
    .channel = channel,
    .turn = "self-test",
    .uid = self->uid,
    .gid = self->gid,
    .memory_bytes = self->config->memory_max_bytes,
    .nano_cpus = (gint64) (self->config->cpus * 1e9),
    .pids = (gint64) self->config->pids_max,
    .run_dir = self->run_dir,
    .workspace = self->workspace,
    .runtime = self->config->runtime != NULL && *self->config->runtime != '\0' ? self->config->runtime : NULL,
  };
  g_autofree char *body = sbx_container_spec_to_json (&spec, error);
  g_autofree char *id = NULL;
  g_autoptr (GAsyncResult) created = NULL;
  g_autoptr (GAsyncResult) attached = NULL;
  g_autoptr (GAsyncResult) started = NULL;
  SbxWait wait = { 0 };

  if (body == NULL)
    return FALSE;
  sbx_engine_container_create_async (self->engine, name, body, 0, NULL, sbx_wait_done, &wait);
  created = sbx_wait (&wait);
  id = sbx_engine_container_create_finish (created, error);
  if (id == NULL)
    return FALSE;
  sbx_attach_open_async (self->engine, name, 0, NULL, sbx_wait_done, &wait);
  attached = sbx_wait (&wait);
  run->fd = sbx_attach_open_finish (attached, error);
  if (run->fd < 0)
    return FALSE;
  run->output = sbx_worker_output_new (self->own_image);
  run->watch = g_unix_fd_source_new (run->fd, G_IO_IN | G_IO_HUP | G_IO_ERR);
  g_source_set_callback (run->watch, G_SOURCE_FUNC (on_output), run, NULL);
  g_source_attach (run->watch, NULL);
  sbx_engine_container_start_async (self->engine, name, 0, NULL, sbx_wait_done, &wait);
  started = sbx_wait (&wait);
  return sbx_engine_container_start_finish (started, error);
}

static void
give_turn (Trial *self, Run *run, const char *name, const char *turn, guint idle_msec, guint end_msec)
{
  gboolean is_turn = *turn != '\0';
  g_autofree char *line = g_strconcat (turn, is_turn ? "\n" : NULL, NULL);
  g_autoptr (GBytes) bytes = g_bytes_new (line, strlen (line));
  g_autoptr (GAsyncResult) written = NULL;
  g_autoptr (GAsyncResult) waited = NULL;
  SbxWait wait = { 0 };

  iterate (run, idle_msec);
  run->early = run->watch == NULL || run->output == NULL || sbx_judge_n_connections (self->judge) > 0;
  if (run->watch != NULL)
    {
      sbx_attach_write_async (run->fd, bytes, !is_turn || !self->keeps_input, 0, NULL, sbx_wait_done, &wait);
      written = sbx_wait (&wait);
      (void) sbx_attach_write_finish (written, NULL);
    }
  sbx_engine_container_wait_async (self->engine, name, end_msec, NULL, sbx_wait_done, &wait);
  waited = sbx_wait (&wait);
  run->ended = sbx_engine_container_wait_finish (waited, &run->exit_status, NULL);
  if (run->ended)
    iterate (run, DRAIN_MSEC);
}

/* One container from its creation to its removal. FALSE where Docker did not do its part. */
static gboolean
try_turn (Trial *self, const char *turn, guint idle_msec, guint end_msec, Run *run)
{
  g_autofree char *name = g_strdup_printf (SBX_CONTAINER_PREFIX "check-%08x", g_random_int ());
  g_autoptr (GAsyncResult) removed = NULL;
  g_autoptr (GError) error = NULL;
  SbxWait wait = { 0 };

  run->started = start_container (self, run, name, &error);
  if (run->started)
    give_turn (self, run, name, turn, idle_msec, end_msec);
  sbx_removal_async (self->engine, name, NULL, sbx_wait_done, &wait);
  removed = sbx_wait (&wait);
  (void) sbx_removal_finish (removed, NULL);
  trial_say (self, run->started, "the container starts", error != NULL ? error->message : "");
  return run->started;
}

static void
judge_reply (Trial *self, const Run *run)
{
  g_autofree char *status = g_strdup_printf ("it ended with status %" G_GINT64_FORMAT, run->exit_status);

  trial_say (self, run->verdict == SBX_OUTPUT_REPLY,
             "the reply is one JSON object with ok and text, within its bounds",
             sbx_failure_text (run->failure));
  if (run->verdict == SBX_OUTPUT_REPLY)
    trial_say (self, run->reply.ok && *run->reply.text != '\0',
               "the reply has ok and a text when all goes well", "ok is false, or the text empty");
  trial_say (self, run->exit_status == 0, "it ends with status 0", status);
}

static void
try_good_turn (Trial *self, const char *label, const char *turn)
{
  g_auto (Run) run = { .fd = -1 };
  const char *fault;

  g_print ("%s:\n", label);
  sbx_judge_begin (self->judge, FALSE);
  if (!try_turn (self, turn, IDLE_MSEC, TURN_MSEC, &run))
    return;
  trial_say (self, !run.early, "it waits for its turn",
             "it ended, wrote or called before standard input had its end");
  trial_say (self, run.ended, "it ends behind its reply", "it still ran after a minute");
  fault = sbx_judge_fault (self->judge);
  trial_say (self, fault == NULL, "each request keeps the broker's rules", fault);
  trial_say (self, sbx_judge_n_model_calls (self->judge) > 0, "it asks the model",
             "no request came to " SBX_WORKER_SOCKET);
  if (run.ended)
    judge_reply (self, &run);
}

static void
try_failing_model (Trial *self)
{
  g_auto (Run) run = { .fd = -1 };
  gboolean replied;

  g_print ("A turn whose model fails:\n");
  sbx_judge_begin (self->judge, TRUE);
  if (!try_turn (self, TURN ("") "}", 0, TURN_MSEC, &run))
    return;
  trial_say (self, run.ended, "it ends", "it still ran after a minute");
  replied = run.verdict == SBX_OUTPUT_REPLY && run.reply.ok && run.exit_status == 0;
  trial_say (self, !replied, "it does not say that all is well", "ok is true though no model answered");
}

static void
try_no_turn (Trial *self)
{
  g_auto (Run) run = { .fd = -1 };

  g_print ("No turn comes:\n");
  sbx_judge_begin (self->judge, FALSE);
  if (!try_turn (self, "", 0, END_MSEC, &run))
    return;
  trial_say (self, run.ended, "it ends when standard input does", "it still ran after ten seconds");
  trial_say (self, sbx_judge_n_connections (self->judge) == 0, "it calls nobody", "it called the broker");
}

/* --- the place --- */

static gboolean
trial_set_up (Trial *self, GError **error)
{
  g_autofree char *socket_path = NULL;
  const struct passwd *user = getpwnam (self->config->worker_user);

  if (geteuid () != 0)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                           "The self-test must be run as root");
      return FALSE;
    }
  if (user == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "There is no user %s (WorkerUser=)",
                   self->config->worker_user);
      return FALSE;
    }
  self->uid = user->pw_uid;
  self->gid = user->pw_gid;
  self->installation = sbx_installation_id (error);
  if (self->installation == NULL)
    return FALSE;
  self->top = g_strdup (TRIAL_DIR);
  if (g_mkdtemp (self->top) == NULL)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "Cannot make a directory in /run: %s",
                   g_strerror (errno));
      g_clear_pointer (&self->top, g_free);
      return FALSE;
    }
  self->run_dir = g_build_filename (self->top, "broker", NULL);
  self->workspace = g_build_filename (self->top, "workspace", NULL);
  socket_path = g_build_filename (self->run_dir, SBX_BROKER_SOCKET, NULL);
  if (g_mkdir (self->run_dir, 0750) == 0 && chown (self->run_dir, 0, self->gid) == 0
      && g_mkdir (self->workspace, 0770) == 0 && chown (self->workspace, 0, self->gid) == 0
      && g_chmod (self->workspace, 0770) == 0)
    self->judge = sbx_judge_new (socket_path, error);
  if (self->judge != NULL && chown (socket_path, 0, self->gid) == 0 && g_chmod (socket_path, 0660) == 0)
    return TRUE;
  if (self->judge != NULL || (error != NULL && *error == NULL))
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "Cannot prepare %s: %s", self->top,
                 g_strerror (errno));
  return FALSE;
}

/* The worker's files are its own making: by descriptor, following no link. */
static void
remove_tree (int parent, const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_auto (SbxFd) fd = -1;
  g_autofree char *path = NULL;
  g_autoptr (GDir) dir = NULL;
  const char *entry;

  if (unlinkat (parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
    return;
  fd = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return;
  path = g_strdup_printf ("/proc/self/fd/%d", fd);
  dir = g_dir_open (path, 0, NULL);
  while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL)
    remove_tree (fd, entry);
  (void) unlinkat (parent, name, AT_REMOVEDIR);
}

static void
trial_clear (Trial *self)
{
  sbx_judge_free (self->judge);
  if (self->top != NULL)
    remove_tree (AT_FDCWD, self->top);
  g_free (self->installation);
  g_free (self->top);
  g_free (self->run_dir);
  g_free (self->workspace);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Trial, trial_clear)

SbxExit
sbx_image_trial (SbxEngine *engine, const SbxConfig *config, const char *image)
{
  g_auto (Trial) self = { .engine = engine, .config = config, .image = image };
  g_autoptr (GAsyncResult) inspected = NULL;
  g_autoptr (SbxImage) found = NULL;
  g_autoptr (GError) error = NULL;
  SbxWait wait = { 0 };

  sbx_engine_image_inspect_async (engine, image, 0, NULL, sbx_wait_done, &wait);
  inspected = sbx_wait (&wait);
  found = sbx_engine_image_inspect_finish (inspected, &error);
  if (found == NULL || !trial_set_up (&self, &error))
    {
      if (g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IMAGE_MISSING))
        g_printerr ("Docker has no image %s; \"docker images\" lists those that it has.\n", image);
      else
        g_printerr ("Cannot test %s: %s\n", image, error->message);
      return SBX_EXIT_FAILED;
    }
  self.own_image = found->worker_version != NULL;
  self.keeps_input = found->keeps_input;

  try_good_turn (&self, "A first turn", TURN ("") "}");
  if (!self.broken)
    {
      try_good_turn (
        &self, "A second turn in the same workspace, with members that it need not know",
        TURN (",\"more\":[null]") ",\"reset\":false,\"repair\":true,\"calls\":48,\"remaining_ms\":60000,"
                                  "\"keep\":[],\"compaction\":null,\"self_test\":{\"deep\":[[]]}}");
      try_failing_model (&self);
      try_no_turn (&self);
    }
  g_print (self.broken ? "%s does not keep the contract (doc/worker.md).\n" : "%s keeps the contract.\n",
           image);
  return self.broken ? SBX_EXIT_FAILED : SBX_EXIT_GOOD;
}
