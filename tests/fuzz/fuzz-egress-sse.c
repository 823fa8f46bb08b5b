/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A stream of events gives the same events however it is cut into pieces. */
#include "fuzz.h"

#include "egress/sse.h"

#define MAX_EVENTS 64u

typedef struct {
  GString *trace;
  guint n_events;
} Seen;

static gboolean
on_event (const char *data, gsize n_bytes, gpointer user_data)
{
  Seen *seen = user_data;

  g_string_append_len (seen->trace, data, (gssize) n_bytes);
  g_string_append_c (seen->trace, '\x1e');
  return ++seen->n_events < MAX_EVENTS;
}

/* The events of data, fed in pieces of that size. */
static GString *
events_of (const uint8_t *data, gsize n_bytes, gsize piece)
{
  Seen seen = { .trace = g_string_new (NULL) };
  g_autoptr (SbxSse) sse = sbx_sse_new (on_event, &seen);

  for (gsize place = 0; place < n_bytes; place += piece)
    if (!sbx_sse_feed (sse, (const char *) data + place, MIN (piece, n_bytes - place)))
      break;
  g_assert (seen.n_events <= MAX_EVENTS);
  return seen.trace;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_autoptr (GString) whole = NULL;
  g_autoptr (GString) bytes = NULL;
  g_autoptr (GString) pieces = NULL;

  if (n_bytes == 0)
    return -1;
  whole = events_of (data, n_bytes, n_bytes);
  bytes = events_of (data, n_bytes, 1);
  pieces = events_of (data, n_bytes, 1 + data[0] % 7);
  g_assert (g_string_equal (whole, bytes));
  g_assert (g_string_equal (whole, pieces));
  return 0;
}
