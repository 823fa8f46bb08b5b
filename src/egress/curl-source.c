/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/curl-source.h"

/* Polled as they are, not by g_source_add_unix_fd(): libcurl changes what it waits for several times a
 * request, and g_source_modify_unix_fd() wakes up the loop that we are in each time. */
typedef GPollFD Socket;

typedef struct {
  GSource base;
  CURLM *multi;
  gint64 due_usec; /* of curl's timer, or -1 */
  SbxCurlDone done;
  gpointer user_data;
  GHashTable *sockets; /* fd to Socket */
} CurlSource;

static gushort
condition_for (int what)
{
  guint condition = 0;

  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
    condition |= G_IO_IN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
    condition |= G_IO_OUT;
  return (gushort) condition;
}

static int
on_socket (CURL *easy, curl_socket_t fd, int what, void *user_data, void *socket_data)
{
  CurlSource *self = user_data;
  Socket *known = g_hash_table_lookup (self->sockets, GINT_TO_POINTER (fd));

  if (what == CURL_POLL_REMOVE)
    {
      if (known != NULL)
        {
          g_source_remove_poll (&self->base, known);
          g_hash_table_remove (self->sockets, GINT_TO_POINTER (fd));
        }
      return 0;
    }
  if (known != NULL)
    {
      known->events = condition_for (what);
      return 0;
    }
  known = g_new0 (Socket, 1);
  known->fd = fd;
  known->events = condition_for (what);
  g_source_add_poll (&self->base, known);
  g_hash_table_insert (self->sockets, GINT_TO_POINTER (fd), known);
  return 0;
}

static int
on_timer (CURLM *multi, long timeout_ms, void *user_data)
{
  CurlSource *self = user_data;

  /* Never acted upon here: curl must not be called from its own callback. And not by
   * g_source_set_ready_time(), which wakes up the loop that we are in: curl calls this again and again. */
  self->due_usec = timeout_ms < 0 ? -1 : g_get_monotonic_time () + (gint64) timeout_ms * 1000;
  return 0;
}

static void
tell_done (CurlSource *self)
{
  CURLMsg *message;
  int left;

  while ((message = curl_multi_info_read (self->multi, &left)) != NULL)
    if (message->msg == CURLMSG_DONE)
      {
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;

        (void) curl_multi_remove_handle (self->multi, easy);
        self->done (easy, code, self->user_data);
      }
}

static gboolean
curl_source_prepare (GSource *source, int *timeout_ms)
{
  const CurlSource *self = (CurlSource *) source;
  gint64 left_usec = self->due_usec - g_source_get_time (source);

  *timeout_ms = -1;
  if (self->due_usec < 0)
    return FALSE;
  *timeout_ms = (int) CLAMP ((left_usec + 999) / 1000, 0, G_MAXINT); /* rounded up, or we would spin */
  return left_usec <= 0;
}

static gboolean
curl_source_check (GSource *source)
{
  const CurlSource *self = (CurlSource *) source;
  GHashTableIter iter;
  gpointer value;

  if (self->due_usec >= 0 && self->due_usec <= g_source_get_time (source))
    return TRUE;
  g_hash_table_iter_init (&iter, self->sockets);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (((Socket *) value)->revents != 0)
      return TRUE;
  return FALSE;
}

static gboolean
curl_source_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  CurlSource *self = (CurlSource *) source;
  g_autofree int *fds = NULL;
  GHashTableIter iter;
  gpointer value;
  guint n_fds = 0;
  int running;

  if (self->due_usec >= 0 && self->due_usec <= g_source_get_time (source))
    {
      self->due_usec = -1;
      (void) curl_multi_socket_action (self->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }

  /* A list of its own: curl adds and removes sockets while it works. */
  fds = g_new (int, g_hash_table_size (self->sockets) + 1);
  g_hash_table_iter_init (&iter, self->sockets);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    fds[n_fds++] = ((Socket *) value)->fd;
  for (guint i = 0; i < n_fds; i++)
    {
      Socket *known = g_hash_table_lookup (self->sockets, GINT_TO_POINTER (fds[i]));
      guint condition = known != NULL ? known->revents : 0;
      int what = 0;

      if (condition & (G_IO_IN | G_IO_HUP))
        what |= CURL_CSELECT_IN;
      if (condition & G_IO_OUT)
        what |= CURL_CSELECT_OUT;
      if (condition & (G_IO_ERR | G_IO_NVAL))
        what |= CURL_CSELECT_ERR;
      if (what != 0)
        (void) curl_multi_socket_action (self->multi, fds[i], what, &running);
    }
  tell_done (self);
  return G_SOURCE_CONTINUE;
}

static void
curl_source_finalize (GSource *source)
{
  g_hash_table_unref (((CurlSource *) source)->sockets);
}

static GSourceFuncs curl_source_funcs = {
  .prepare = curl_source_prepare,
  .check = curl_source_check,
  .dispatch = curl_source_dispatch,
  .finalize = curl_source_finalize,
};

GSource *
sbx_curl_source_new (CURLM *multi, SbxCurlDone done, gpointer user_data)
{
  GSource *source = g_source_new (&curl_source_funcs, sizeof (CurlSource));
  CurlSource *self = (CurlSource *) source;

  g_source_set_can_recurse (source, TRUE); /* as in base/source.c */
  self->multi = multi;
  self->due_usec = -1;
  self->done = done;
  self->user_data = user_data;
  self->sockets = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  (void) curl_multi_setopt (multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  (void) curl_multi_setopt (multi, CURLMOPT_SOCKETDATA, self);
  (void) curl_multi_setopt (multi, CURLMOPT_TIMERFUNCTION, on_timer);
  (void) curl_multi_setopt (multi, CURLMOPT_TIMERDATA, self);
  (void) g_source_attach (source, g_main_context_get_thread_default ());
  return source;
}
