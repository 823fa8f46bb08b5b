/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a broker could write to sandboxd, as a stream over a real socket, in pieces: the link delivers frames
 * of the table, then says once that it is over. */
#include "fuzz.h"

#include <sys/socket.h>

#include "base/fd.h"
#include "wire/control.h"
#include "wire/frame-link.h"

#define MAX_BYTES (64u * 1024u)

typedef struct {
  guint n_closed;
} Seen;

static gboolean
on_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  Seen *seen = user_data;

  g_assert (seen->n_closed == 0);
  g_assert (g_bytes_get_size (frame->payload) == frame->head.n_bytes);
  g_assert (frame->n_fds == 0);
  return frame->head.id != 0xdead; /* now and then the owner refuses */
}

static void
on_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  Seen *seen = user_data;

  seen->n_closed++;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  static const SbxFrameLinkEvents events = { .frame = on_frame, .closed = on_closed };
  g_autoptr (SbxFrameLink) link = NULL;
  g_auto (SbxFd) peer = -1;
  Seen seen = { 0 };
  int pair[2];
  gsize piece;

  if (n_bytes == 0 || n_bytes > MAX_BYTES)
    return -1;
  piece = (gsize) data[0] * 16 + 1;
  g_assert (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  peer = pair[1];
  link =
    sbx_frame_link_new (pair[0], sbx_control_rules_sandboxd, sbx_control_n_rules_sandboxd, &events, &seen);
  for (gsize place = 1; place < n_bytes; place += piece)
    {
      (void) send (peer, data + place, MIN (piece, n_bytes - place), MSG_NOSIGNAL | MSG_DONTWAIT);
      while (g_main_context_iteration (NULL, FALSE))
        ;
    }
  sbx_fd_close (g_steal_fd (&peer));
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert (seen.n_closed == 1);
  return 0;
}
