/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandbox-worker: the agent of one turn. Reads the turn on standard input, writes one line of JSON, ends.
 *
 * It may be started long before its turn comes; it then waits in read(). Input that ends before a turn came
 * means that the host is gone. With a final text written it stays until its input ends, a second at the
 * most.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"
#include "base/json-gate.h"
#include "base/names.h"
#include "json-in.h"
#include "sbx-config.h"
#include "wipe.h"
#include "wire/bounds.h"

/* Whether the turn is there before its end of file: sandboxd ends it with the one line end that it has.
 * Docker takes several milliseconds to close a container's input, behind a call of its own to the shim. */
static gboolean
is_whole (const GByteArray *turn)
{
  return turn->len > 1 && turn->data[turn->len - 1] == '\n' && turn->data[turn->len - 2] == '}'
         && sbx_json_gate ((const char *) turn->data, turn->len, SBX_MAX_TURN_BYTES, NULL);
}

/* One byte more than the turn may have is enough to refuse it. */
static GByteArray *
read_turn (void)
{
  GByteArray *turn = g_byte_array_sized_new (SBX_MAX_TURN_BYTES + 1);

  while (turn->len <= SBX_MAX_TURN_BYTES)
    {
      guint before = turn->len;
      ssize_t got;

      g_byte_array_set_size (turn, SBX_MAX_TURN_BYTES + 1);
      got = read (STDIN_FILENO, turn->data + before, SBX_MAX_TURN_BYTES + 1 - before);
      g_byte_array_set_size (turn, before + (guint) MAX (got, 0));
      if (got == 0 || (got < 0 && errno != EINTR) || (got > 0 && is_whole (turn)))
        break;
    }
  return turn;
}

static gboolean
write_out (const GString *line)
{
  const char *at = line->str;
  gsize left = line->len;

  while (left > 0)
    {
      ssize_t put = write (STDOUT_FILENO, at, left);

      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return FALSE;
      at += put;
      left -= (gsize) put;
    }
  return TRUE;
}

/* Its end makes work for Docker, on processors that others' turns may need just now: sandboxd ends the input
 * when that is due. Longer than it ever puts that off (turn/rest.h). */
#define STAY_MSEC 1000

static void
await_end (void)
{
  gint64 until = g_get_monotonic_time () + STAY_MSEC * 1000;
  gint64 left;
  char rest[256];

  while ((left = until - g_get_monotonic_time ()) > 0)
    {
      struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

      if (poll (&input, 1, (int) (left / 1000) + 1) > 0 && read (STDIN_FILENO, rest, sizeof rest) <= 0)
        break;
    }
}

/* What a first use costs (types, tables, pages) is paid while nobody waits yet. */
static void
warm_up (void)
{
  static const char sample[] = "{\"a\":[{\"b\":\"c\"},1,1.5,true,null]}";
  g_autoptr (GVariant) root = sbx_json_in_read (sample, sizeof sample - 1, sizeof sample, NULL);
  g_autoptr (GTimeZone) zone = g_time_zone_new_utc ();
  g_autoptr (GDateTime) now = g_date_time_new_now (zone);

  (void) root;
  (void) now;
}

int
main (int argc, char **argv)
{
  g_autofree char *socket_path = NULL;
  g_autofree char *workspace = NULL;
  gboolean version = FALSE;
  gboolean wipe = FALSE;
  const GOptionEntry entries[] = {
    { "socket", 0, 0, G_OPTION_ARG_FILENAME, &socket_path, "The broker's socket", "PATH" },
    { "workspace", 0, 0, G_OPTION_ARG_FILENAME, &workspace, "Where memory and history are", "DIRECTORY" },
    { "wipe", 0, 0, G_OPTION_ARG_NONE, &wipe, "Remove all that is in the workspace, and end", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Say the version, and end", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context =
    g_option_context_new ("- the agent of one turn, read on standard input");
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) turn = NULL;
  g_autoptr (SbxReply) reply = NULL;
  g_autoptr (GString) line = NULL;
  SbxAgentPlaces places;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("sandbox-worker: %s\n", error->message);
      return 2;
    }
  if (version)
    {
      g_print ("sandbox-worker " SBX_VERSION "\n");
      return 0;
    }
  places.socket_path = socket_path != NULL ? socket_path : SBX_WORKER_SOCKET;
  places.workspace = workspace != NULL ? workspace : SBX_WORKER_WORKSPACE;
  if (wipe)
    {
      int r = sbx_wipe (places.workspace);

      if (r == 0)
        return 0;
      g_printerr ("sandbox-worker: cannot empty %s: %s\n", places.workspace, g_strerror (-r));
      return 1;
    }
  g_unsetenv ("TZDIR");
  signal (SIGPIPE, SIG_IGN);
  umask (0077);

  warm_up ();
  turn = read_turn ();
  reply = sbx_agent_run (&places, (const char *) turn->data, turn->len);
  line = sbx_reply_write (reply);
  if (!write_out (line))
    return 1;
  /* Any other reply counts with the exit status: somebody waits for it. */
  if (reply->reason == SBX_REPLY_FINE)
    await_end ();
  return sbx_reply_exit_status (reply);
}
