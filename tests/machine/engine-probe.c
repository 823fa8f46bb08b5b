/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* engine-probe: one turn of a container, and what can go wrong with it, with the room's own client against a
 * real dockerd.
 *
 * Run as root in a machine whose Docker has an image of busybox by the name below; it says what it saw.
 * Its output is for a person and for the machine suite; it ends with a status other than 0 at the first thing
 * that is not right.
 */
#include <fcntl.h>
#include <json-glib/json-glib.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/names.h"
#include "container/attach-stream.h"
#include "container/removal.h"
#include "container/spec.h"
#include "probe.h"

#define IMAGE   "sbx-probe:latest"
#define CHANNEL "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static SbxEngine *engine;

/* --- a container --- */

static char *
create (const char *script, const char *name)
{
  const char *const command[] = { "/bin/busybox", "sh", "-c", script, NULL };
  SbxContainerSpec spec = {
    .image = IMAGE,
    .installation = "probe",
    .channel = CHANNEL,
    .turn = "probe",
    .uid = 65534,
    .gid = 65534,
    .memory_bytes = 64u << 20,
    .nano_cpus = 1000000000,
    .pids = 8,
    .run_dir = "/run/sbx-probe",
    .workspace = "/var/lib/sbx-probe",
    .command = command,
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *json = sbx_container_spec_to_json (&spec, &error);
  g_autoptr (GAsyncResult) result = NULL;
  char *id = NULL;

  need (json != NULL, &error, "settings");
  sbx_engine_container_create_async (engine, name, json, 0, NULL, keep, &result);
  id = sbx_engine_container_create_finish (await (&result), &error);
  need (id != NULL, &error, "created");
  return id;
}

static int
attach (const char *id)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  int fd = -1;

  sbx_attach_open_async (engine, id, 0, NULL, keep, &result);
  fd = sbx_attach_open_finish (await (&result), &error);
  need (fd >= 0, &error, "attached");
  return fd;
}

static void
start (const char *id)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  sbx_engine_container_start_async (engine, id, 0, NULL, keep, &result);
  need (sbx_engine_container_start_finish (await (&result), &error), &error, "started");
}

static void
removed (const char *id, const char *what)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  sbx_removal_async (engine, id, NULL, keep, &result);
  need (sbx_removal_finish (await (&result), &error), &error, what);
}

/* All frames to the end of the stream, the main loop running, so that the turn may still be on its way. */
static GString *
read_frames (int fd)
{
  g_autoptr (GByteArray) raw = g_byte_array_new ();
  GString *text = g_string_new (NULL);
  guint8 piece[65536];
  gsize at = 0;

  for (;;)
    {
      ssize_t n = recv (fd, piece, sizeof piece, 0);

      if (n == 0)
        break;
      if (n > 0)
        {
          g_byte_array_append (raw, piece, (guint) n);
          continue;
        }
      (void) g_main_context_iteration (NULL, FALSE);
      (void) poll (&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 10);
    }
  while (at + 8 <= raw->len)
    {
      guint32 length = GUINT32_FROM_BE (*(guint32 *) (void *) (raw->data + at + 4));

      g_string_append_len (text, (const char *) raw->data + at + 8, (gssize) MIN (length, raw->len - at - 8));
      at += 8 + length;
    }
  need (at == raw->len, NULL, "whole frames only");
  return text;
}

/* --- what is tried --- */

static void
probe_turn (void)
{
  g_autofree char *id = create (
    "busybox=/bin/busybox; $busybox wc -c; $busybox id; $busybox cat /proc/mounts | $busybox grep -E ' "
    "/(tmp|dev/shm|broker|workspace) ';"
    "$busybox grep -E 'Cap(Eff|Bnd)|NoNew|Seccomp:' /proc/self/status; $busybox cat /proc/self/oom_score_adj;"
    "$busybox ls /sys/class/net; $busybox touch /x; echo HOME=$HOME; exit 7",
    "sbx-probe-1");
  g_auto (SbxFd) fd = attach (id);
  g_autofree char *text = g_strnfill (262144, 't');
  g_autoptr (GBytes) turn = g_bytes_new (text, 262144);
  g_autoptr (GAsyncResult) written = NULL;
  g_autoptr (GAsyncResult) waited = NULL;
  g_autoptr (GAsyncResult) inspected = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxContainerState) state = NULL;
  GString *output = NULL;
  gint64 status = -1;

  start (id);
  sbx_engine_container_wait_async (engine, id, 0, NULL, keep, &waited);
  sbx_attach_write_async (fd, turn, TRUE, 0, NULL, keep, &written);
  output = read_frames (fd);
  say ("end of output");
  need (sbx_attach_write_finish (await (&written), &error), &error, "turn written");
  need (sbx_engine_container_wait_finish (await (&waited), &status, &error), &error, "waited");
  need (status == 7, NULL, "exit status 7");
  sbx_engine_container_inspect_async (engine, id, 0, NULL, keep, &inspected);
  state = sbx_engine_container_inspect_finish (await (&inspected), &error);
  need (state != NULL && !state->running && state->exit_status == 7, &error, "inspected");
  fputs (output->str, stdout);
  need (g_str_has_prefix (output->str, "262144\n"), NULL, "the worker got the whole turn and its end");
  need (strstr (output->str, "HOME=/tmp/home") != NULL, NULL, "HOME");
  g_string_free (output, TRUE);
  removed (id, "removed");
  removed (id, "removed again");
}

static void
probe_killed (void)
{
  g_autofree char *id = create ("/bin/busybox sleep 1000", "sbx-probe-2");
  g_auto (SbxFd) fd = attach (id);
  g_autoptr (GAsyncResult) waited = NULL;
  g_autoptr (GAsyncResult) listed = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) list = NULL;
  gint64 status = -1;

  start (id);
  sbx_engine_container_list_async (engine, SBX_LABEL_INSTALLATION "=probe", 0, NULL, keep, &listed);
  list = sbx_engine_container_list_finish (await (&listed), &error);
  need (list != NULL && list->len == 1, &error, "listed by label");
  sbx_engine_container_wait_async (engine, id, 0, NULL, keep, &waited);
  removed (id, "removed while it runs");
  if (sbx_engine_container_wait_finish (await (&waited), &status, &error))
    printf ("           the wait gave status %d\n", (int) status);
  else
    printf ("           the wait gave: %s\n", error->message);
}

/* A worker that does not read its turn: the write must give up by itself. */
static void
probe_deaf (void)
{
  g_autofree char *id = create ("/bin/busybox sleep 1000", "sbx-probe-3");
  g_auto (SbxFd) fd = attach (id);
  g_autofree char *text = g_strnfill (4u << 20, 't');
  g_autoptr (GBytes) turn = g_bytes_new (text, 4u << 20);
  g_autoptr (GAsyncResult) written = NULL;
  g_autoptr (GError) error = NULL;

  start (id);
  sbx_attach_write_async (fd, turn, TRUE, 500, NULL, keep, &written);
  (void) sbx_attach_write_finish (await (&written), &error);
  need (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT), &error, "a deaf worker times out");
  (void) shutdown (fd, SHUT_RDWR);
  removed (id, "removed");
}

/* Nobody reads what a worker floods: dockerd blocks until our end is closed, as the broker's is when it dies
 */
static void
probe_flood (void)
{
  g_autofree char *id = create ("while :; do echo floodfloodfloodfloodfloodfloodflood; done", "sbx-probe-6");
  g_auto (SbxFd) fd = attach (id);
  g_autoptr (GAsyncResult) deleted = NULL;
  g_autoptr (GError) error = NULL;

  start (id);
  g_usleep (G_USEC_PER_SEC);
  sbx_engine_container_delete_async (engine, id, 2000, NULL, keep, &deleted);
  if (sbx_engine_container_delete_finish (await (&deleted), &error))
    say ("a flooding worker nobody reads: removed all the same");
  else
    printf ("           a flooding worker nobody reads: %s\n", error->message);
  sbx_fd_close (g_steal_fd (&fd));
  removed (id, "removed when the stream's end is closed");
}

static void
probe_oom (void)
{
  g_autofree char *id = create ("x=xxxxxxxxxxxxxxxx; while :; do x=$x$x$x$x; done", "sbx-probe-4");
  g_auto (SbxFd) fd = attach (id);
  g_autoptr (GAsyncResult) waited = NULL;
  g_autoptr (GAsyncResult) inspected = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxContainerState) state = NULL;
  gint64 status = -1;

  start (id);
  sbx_engine_container_wait_async (engine, id, 20000, NULL, keep, &waited);
  need (sbx_engine_container_wait_finish (await (&waited), &status, &error), &error, "waited");
  sbx_engine_container_inspect_async (engine, id, 0, NULL, keep, &inspected);
  state = sbx_engine_container_inspect_finish (await (&inspected), &error);
  need (state != NULL, &error, "inspected");
  printf ("           out of memory: status %d, OOMKilled %d\n", (int) status, state->oom_killed);
  removed (id, "removed");
}

/* A prepared container: when our end goes, its standard input ends, and so does it. */
static void
probe_orphan (void)
{
  g_autofree char *id = create ("/bin/busybox cat >/dev/null; exit 3", "sbx-probe-5");
  g_auto (SbxFd) fd = attach (id);
  g_autoptr (GAsyncResult) waited = NULL;
  g_autoptr (GError) error = NULL;
  gint64 status = -1;

  start (id);
  sbx_fd_close (g_steal_fd (&fd));
  sbx_engine_container_wait_async (engine, id, 5000, NULL, keep, &waited);
  need (sbx_engine_container_wait_finish (await (&waited), &status, &error) && status == 3, &error,
        "a waiting worker ends when our end is closed");
  removed (id, "removed");
}

static void
probe_errors (void)
{
  g_autoptr (GAsyncResult) attached = NULL;
  g_autoptr (GAsyncResult) image = NULL;
  g_autoptr (GError) error = NULL;

  sbx_attach_open_async (engine, "sbx-no-such", 0, NULL, keep, &attached);
  need (sbx_attach_open_finish (await (&attached), &error) == -1
          && g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_NOT_FOUND),
        &error, "attach to nothing is refused");
  g_clear_error (&error);
  sbx_engine_image_inspect_async (engine, "sbx-no-such:latest", 0, NULL, keep, &image);
  need (sbx_engine_image_inspect_finish (await (&image), &error) == NULL
          && g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IMAGE_MISSING),
        &error, "a missing image is told");
}

static void
probe_daemon (void)
{
  g_autoptr (GAsyncResult) asked = NULL;
  g_autoptr (GAsyncResult) inspected = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxEngineInfo) info = NULL;
  g_autoptr (SbxImage) image = NULL;

  sbx_engine_info_async (engine, 0, NULL, keep, &asked);
  info = sbx_engine_info_finish (await (&asked), &error);
  need (info != NULL, &error, "info");
  printf ("           Docker %s, driver %s, cgroup %s, runtimes %u\n", info->server_version,
          info->cgroup_driver, info->cgroup_version, g_strv_length (info->runtimes));
  sbx_engine_image_inspect_async (engine, IMAGE, 0, NULL, keep, &inspected);
  image = sbx_engine_image_inspect_finish (await (&inspected), &error);
  need (image != NULL && g_strcmp0 (image->worker_version, "probe") == 0, &error, "the image's label");
}

int
main (void)
{
  probe_begin ("engine-probe");
  engine = sbx_engine_new (NULL);
  (void) g_mkdir_with_parents ("/run/sbx-probe", 0755);
  (void) g_mkdir_with_parents ("/var/lib/sbx-probe", 0755);
  probe_daemon ();
  probe_errors ();
  probe_turn ();
  probe_killed ();
  probe_deaf ();
  probe_flood ();
  probe_oom ();
  probe_orphan ();
  sbx_engine_unref (engine);
  puts ("engine-probe: all as it should be");
  return 0;
}
