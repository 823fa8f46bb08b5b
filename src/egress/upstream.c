/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/upstream.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "egress/address.h"
#include "egress/curl-source.h"
#include "egress/kept-sockets.h"
#include "wire/bounds.h"

#define CONNECT_MSEC        10000L
#define IDLE_CONNECTION_SEC 60L
#define DNS_CACHE_SEC       60L
#define KEPT_CONNECTIONS    64L
/* libcurl reads a body by blocks of this size. One that holds the largest is sent without a turn of the loop
 * for each block. */
#define LEAST_UPLOAD_BYTES 65536u
#define MOST_UPLOAD_BYTES  (SBX_MAX_CALL_BYTES + 65536u)

struct _SbxUpstream {
  CURLM *multi;
  CURLSH *share; /* TLS sessions; connections and names are the multi handle's */
  SbxKeptSockets *sockets;
  GSource *source;
  guint n_transfers;
};

struct _SbxTransfer {
  SbxUpstream *upstream;
  CURL *easy;
  struct curl_slist *headers;
  GBytes *request;
  gsize request_place;
  gboolean private_allowed;
  gboolean address_refused;
  gboolean resend_refused;
  gboolean too_large;
  gboolean unclean; /* the kept connection had something unread; nothing was sent */
  gboolean stopped; /* by the piece handler: the answer is whole */
  GString *answer;
  SbxUpstreamPiece piece;
  SbxUpstreamDone done;
  gpointer user_data;
};

/* --- libcurl's callbacks --- */

static size_t
on_read (char *buffer, size_t size, size_t n_items, void *user_data)
{
  SbxTransfer *self = user_data;
  gsize n_bytes;
  const char *data = g_bytes_get_data (self->request, &n_bytes);
  gsize n = MIN (size * n_items, n_bytes - self->request_place);

  memcpy (buffer, data + self->request_place, n);
  self->request_place += n;
  return n;
}

/* libcurl rewinds when it wants to send a request again on another connection, which it does whenever a kept
 * one dies before an answer. The endpoint may have had the request by then: a call would be made, and paid
 * for, twice. */
static int
on_seek (void *user_data, curl_off_t offset, int origin)
{
  SbxTransfer *self = user_data;

  if (self->request_place == 0 && offset == 0 && origin == SEEK_SET)
    return CURL_SEEKFUNC_OK;
  self->resend_refused = TRUE;
  return CURL_SEEKFUNC_FAIL;
}

static size_t
on_write (char *data, size_t size, size_t n_items, void *user_data)
{
  SbxTransfer *self = user_data;
  gsize n_bytes = size * n_items;
  char *content_type = NULL;

  if (self->answer->len + n_bytes > SBX_MAX_ANSWER_BYTES)
    {
      self->too_large = TRUE;
      return 0;
    }
  g_string_append_len (self->answer, data, (gssize) n_bytes);
  if (self->piece == NULL)
    return n_bytes;
  (void) curl_easy_getinfo (self->easy, CURLINFO_CONTENT_TYPE, &content_type);
  if (self->piece (content_type != NULL ? content_type : "", data, n_bytes, self->user_data))
    return n_bytes;
  self->stopped = TRUE;
  return 0;
}

static curl_socket_t
on_open_socket (void *user_data, curlsocktype purpose, struct curl_sockaddr *address)
{
  SbxTransfer *self = user_data;
  int fd;

  if (!self->private_allowed && !sbx_address_is_public (&address->addr, (socklen_t) address->addrlen))
    {
      self->address_refused = TRUE;
      return CURL_SOCKET_BAD;
    }
  fd = socket (address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0)
    return CURL_SOCKET_BAD;
  sbx_kept_sockets_add (self->upstream->sockets, fd);
  return fd;
}

/* The connection's, which outlives the transfer that opened it. */
static int
on_close_socket (void *user_data, curl_socket_t fd)
{
  sbx_kept_sockets_remove (user_data, fd);
  return close (fd);
}

/* The connection is there, and nothing has been sent on it for this transfer. */
static int
on_connection (void *user_data, char *peer, char *local, int peer_port, int local_port)
{
  SbxTransfer *self = user_data;
  long n_connects = 0;

  (void) curl_easy_getinfo (self->easy, CURLINFO_NUM_CONNECTS, &n_connects);
  self->unclean =
    n_connects == 0 && sbx_kept_sockets_have_unread (self->upstream->sockets, (guint) local_port);
  return self->unclean ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* --- results --- */

typedef struct {
  SbxFailure failure;
  const char *detail;
} Class;

static Class
classify_status (guint status)
{
  if (status >= 200 && status <= 299)
    return (Class){ SBX_FAILURE_NONE, "fine" };
  if (status >= 300 && status <= 399)
    return (Class){ SBX_FAILURE_MODEL_REFUSED, "redirect" };
  return (Class){ SBX_FAILURE_MODEL_REFUSED, "status" };
}

static Class
classify (const SbxTransfer *self, CURLcode code, guint status)
{
  curl_off_t connected_usec = 0;

  if (self->stopped)
    return classify_status (status);
  if (self->too_large)
    return (Class){ SBX_FAILURE_MODEL_ANSWER, "too-large" };
  if (self->resend_refused)
    return (Class){ SBX_FAILURE_MODEL_UNREACHABLE, "kept-connection-lost" };
  switch ((int) code)
    {
    case CURLE_OK:
      return classify_status (status);
    case CURLE_COULDNT_RESOLVE_HOST:
      return (Class){ SBX_FAILURE_MODEL_UNREACHABLE, "name" };
    case CURLE_COULDNT_CONNECT:
      if (self->address_refused)
        return (Class){ SBX_FAILURE_ADDRESS_REFUSED, "address" };
      return (Class){ SBX_FAILURE_MODEL_UNREACHABLE, "connect" };
    case CURLE_OPERATION_TIMEDOUT:
      (void) curl_easy_getinfo (self->easy, CURLINFO_PRETRANSFER_TIME_T, &connected_usec);
      return connected_usec == 0 ? (Class){ SBX_FAILURE_MODEL_UNREACHABLE, "connect-timeout" }
                                 : (Class){ SBX_FAILURE_MODEL_TIMEOUT, "timeout" };
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ISSUER_ERROR:
      return (Class){ SBX_FAILURE_MODEL_UNREACHABLE, "tls" };
    case CURLE_SSL_CACERT_BADFILE:
      return (Class){ SBX_FAILURE_MODEL_UNREACHABLE, "ca-file" };
    case CURLE_SEND_ERROR:
      return (Class){ SBX_FAILURE_MODEL_UNREACHABLE, "send" };
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
      return (Class){ SBX_FAILURE_MODEL_ANSWER, "cut" };
    case CURLE_BAD_CONTENT_ENCODING:
      return (Class){ SBX_FAILURE_MODEL_ANSWER, "encoding" };
    default:
      return (Class){ SBX_FAILURE_MODEL_ANSWER, "protocol" };
    }
}

static const char *
header_of (CURL *easy, const char *name)
{
  struct curl_header *header = NULL;

  if (curl_easy_header (easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK
      || strlen (header->value) > 512)
    return NULL;
  return header->value;
}

/* Lines may hold a key. */
static void
wipe_headers (struct curl_slist *headers)
{
  for (struct curl_slist *h = headers; h != NULL; h = h->next)
    explicit_bzero (h->data, strlen (h->data));
  curl_slist_free_all (headers);
}

static void
transfer_free (SbxTransfer *self)
{
  self->upstream->n_transfers--;
  curl_easy_cleanup (self->easy);
  wipe_headers (self->headers);
  g_bytes_unref (self->request);
  g_string_free (self->answer, TRUE);
  g_free (self);
}

/* libcurl has closed the unclean connection. */
static void
transfer_again (SbxTransfer *self)
{
  self->unclean = FALSE;
  (void) curl_easy_setopt (self->easy, CURLOPT_FRESH_CONNECT, 1L);
  (void) curl_multi_add_handle (self->upstream->multi, self->easy);
}

static void
on_transfer_done (CURL *easy, CURLcode code, gpointer user_data)
{
  SbxTransfer *self = NULL;
  SbxUpstreamResult result = { 0 };
  long status = 0, number = 0;
  Class class;

  (void) curl_easy_getinfo (easy, CURLINFO_PRIVATE, (char **) &self);
  if (self->unclean)
    {
      transfer_again (self);
      return;
    }
  (void) curl_easy_getinfo (easy, CURLINFO_RESPONSE_CODE, &status);
  (void) curl_easy_getinfo (easy, CURLINFO_OS_ERRNO, &number);
  class = classify (self, code, (guint) status);
  result.failure = class.failure;
  result.detail = class.detail;
  result.status = (guint) status;
  result.connection_refused =
    code == CURLE_COULDNT_CONNECT && number == ECONNREFUSED && !self->address_refused;
  if (result.connection_refused)
    result.detail = "refused";
  result.retry_after = header_of (easy, "retry-after");
  result.session = header_of (easy, "mcp-session-id");
  result.body = self->answer->str;
  result.body_bytes = self->answer->len;
  self->done (&result, self->user_data);
  transfer_free (self);
}

/* --- requests --- */

static struct curl_slist *
build_headers (const SbxUpstreamRequest *request)
{
  g_autofree char *accept = g_strdup_printf ("accept: %s", request->accept);
  struct curl_slist *headers = curl_slist_append (NULL, "content-type: application/json");
  const char *key = request->key != NULL ? sbx_secret_peek (request->key, NULL) : NULL;

  headers = curl_slist_append (headers, accept);
  headers = curl_slist_append (headers, "expect:"); /* none: a body is not held back for an answer */
  for (gsize i = 0; request->headers != NULL && request->headers[i] != NULL; i++)
    headers = curl_slist_append (headers, request->headers[i]);
  if (key != NULL)
    {
      const SbxEndpoint *endpoint = request->endpoint;
      char *line = g_strdup_printf ("%s: %s%s%s", endpoint->auth_header, endpoint->auth_prefix,
                                    endpoint->auth_prefix[0] != '\0' ? " " : "", key);

      headers = curl_slist_append (headers, line);
      explicit_bzero (line, strlen (line));
      g_free (line);
    }
  return headers;
}

static void
set_policy (SbxTransfer *self, const SbxUpstreamRequest *request)
{
  const SbxEndpoint *endpoint = request->endpoint;
  CURL *easy = self->easy;

  (void) curl_easy_setopt (easy, CURLOPT_URL, endpoint->url);
  (void) curl_easy_setopt (easy, CURLOPT_PATH_AS_IS, 1L);
  (void) curl_easy_setopt (easy, CURLOPT_PROTOCOLS_STR,
                           g_str_has_prefix (endpoint->url, "http:") ? "http" : "https");
  (void) curl_easy_setopt (easy, CURLOPT_FOLLOWLOCATION, 0L);
  (void) curl_easy_setopt (easy, CURLOPT_PROXY, "");
  (void) curl_easy_setopt (easy, CURLOPT_NOPROXY, "*");
  (void) curl_easy_setopt (easy, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED);
  (void) curl_easy_setopt (easy, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
  (void) curl_easy_setopt (easy, CURLOPT_HTTP09_ALLOWED, 0L);
  (void) curl_easy_setopt (easy, CURLOPT_ACCEPT_ENCODING, "");
  (void) curl_easy_setopt (easy, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
  (void) curl_easy_setopt (easy, CURLOPT_SSL_VERIFYPEER, 1L);
  (void) curl_easy_setopt (easy, CURLOPT_SSL_VERIFYHOST, 2L);
  /* Without a directory of certificates libcurl keeps the parsed bundle between connections. */
  (void) curl_easy_setopt (easy, CURLOPT_CAPATH, NULL);
  if (endpoint->ca_file[0] != '\0')
    (void) curl_easy_setopt (easy, CURLOPT_CAINFO, endpoint->ca_file);
  (void) curl_easy_setopt (easy, CURLOPT_DNS_CACHE_TIMEOUT, DNS_CACHE_SEC);
  (void) curl_easy_setopt (easy, CURLOPT_MAXAGE_CONN, IDLE_CONNECTION_SEC);
  (void) curl_easy_setopt (easy, CURLOPT_TCP_KEEPALIVE, 1L);
  (void) curl_easy_setopt (easy, CURLOPT_NOSIGNAL, 1L);
  (void) curl_easy_setopt (easy, CURLOPT_CONNECTTIMEOUT_MS, MIN (CONNECT_MSEC, (long) request->timeout_msec));
  (void) curl_easy_setopt (easy, CURLOPT_TIMEOUT_MS, (long) MAX (request->timeout_msec, 1u));
}

static void
set_callbacks (SbxTransfer *self)
{
  CURL *easy = self->easy;

  (void) curl_easy_setopt (easy, CURLOPT_PRIVATE, self);
  (void) curl_easy_setopt (easy, CURLOPT_POST, 1L);
  (void) curl_easy_setopt (
    easy, CURLOPT_UPLOAD_BUFFERSIZE,
    (long) CLAMP (g_bytes_get_size (self->request) + 1, LEAST_UPLOAD_BYTES, MOST_UPLOAD_BYTES));
  (void) curl_easy_setopt (easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) g_bytes_get_size (self->request));
  (void) curl_easy_setopt (easy, CURLOPT_HTTPHEADER, self->headers);
  (void) curl_easy_setopt (easy, CURLOPT_READFUNCTION, on_read);
  (void) curl_easy_setopt (easy, CURLOPT_READDATA, self);
  (void) curl_easy_setopt (easy, CURLOPT_SEEKFUNCTION, on_seek);
  (void) curl_easy_setopt (easy, CURLOPT_SEEKDATA, self);
  (void) curl_easy_setopt (easy, CURLOPT_WRITEFUNCTION, on_write);
  (void) curl_easy_setopt (easy, CURLOPT_WRITEDATA, self);
  (void) curl_easy_setopt (easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
  (void) curl_easy_setopt (easy, CURLOPT_OPENSOCKETDATA, self);
  (void) curl_easy_setopt (easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
  (void) curl_easy_setopt (easy, CURLOPT_CLOSESOCKETDATA, self->upstream->sockets);
  (void) curl_easy_setopt (easy, CURLOPT_PREREQFUNCTION, on_connection);
  (void) curl_easy_setopt (easy, CURLOPT_PREREQDATA, self);
}

SbxTransfer *
sbx_upstream_start (SbxUpstream *self, const SbxUpstreamRequest *request, SbxUpstreamDone done,
                    gpointer user_data)
{
  SbxTransfer *transfer = g_new0 (SbxTransfer, 1);

  transfer->upstream = self;
  transfer->easy = curl_easy_init ();
  transfer->request = g_bytes_ref (request->body);
  transfer->headers = build_headers (request);
  transfer->answer = g_string_new (NULL);
  transfer->private_allowed =
    request->endpoint->allow_private || sbx_endpoint_names_address (request->endpoint->url)
    || (request->endpoint->plain_http && g_str_has_prefix (request->endpoint->url, "http:"));
  transfer->piece = request->piece;
  transfer->done = done;
  transfer->user_data = user_data;
  g_assert (transfer->easy != NULL); /* out of memory, as with g_malloc() */
  set_policy (transfer, request);
  set_callbacks (transfer);
  (void) curl_easy_setopt (transfer->easy, CURLOPT_SHARE, self->share);
  self->n_transfers++;
  (void) curl_multi_add_handle (self->multi, transfer->easy);
  return transfer;
}

void
sbx_transfer_cancel (SbxTransfer *self)
{
  (void) curl_multi_remove_handle (self->upstream->multi, self->easy);
  transfer_free (self);
}

SbxUpstream *
sbx_upstream_new (void)
{
  SbxUpstream *self = g_new0 (SbxUpstream, 1);

  self->multi = curl_multi_init ();
  self->share = curl_share_init ();
  self->sockets = sbx_kept_sockets_new ();
  g_assert (self->multi != NULL && self->share != NULL);
  /* Before 8.12 a session is the easy handle's, which lives for one request only. One thread: no locks. */
  (void) curl_share_setopt (self->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  (void) curl_multi_setopt (self->multi, CURLMOPT_MAXCONNECTS, KEPT_CONNECTIONS);
  self->source = sbx_curl_source_new (self->multi, on_transfer_done, self);
  return self;
}

void
sbx_upstream_free (SbxUpstream *self)
{
  if (self == NULL)
    return;
  g_return_if_fail (self->n_transfers == 0);

  /* Closing the kept connections still asks for sockets to be forgotten: the source goes after them. */
  (void) curl_multi_cleanup (self->multi);
  (void) curl_share_cleanup (self->share);
  g_source_destroy (self->source);
  g_source_unref (self->source);
  sbx_kept_sockets_free (self->sockets);
  g_free (self);
}
