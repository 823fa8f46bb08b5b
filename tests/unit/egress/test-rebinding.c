/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Names that lead to private addresses, now or later: no socket is connected to one. The resolver and
 * connect() of this program take the C library's place for libcurl too. */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <gmodule.h>

#include "egress/upstream.h"

/* One set a look-up; a set is addresses with blanks between. */
static const char *const *lookups;
static guint n_lookups;
static GString *connected;

G_MODULE_EXPORT int
getaddrinfo (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret);
G_MODULE_EXPORT void freeaddrinfo (struct addrinfo *list);
G_MODULE_EXPORT int connect (int fd, const struct sockaddr *address, socklen_t n_bytes);

static struct addrinfo *
make_info (const char *text, guint16 port)
{
  struct addrinfo *info = g_new0 (struct addrinfo, 1);
  struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = htons (port) };
  struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons (port) };
  gboolean is4 = inet_pton (AF_INET, text, &in4.sin_addr) == 1;

  g_assert_true (is4 || inet_pton (AF_INET6, text, &in6.sin6_addr) == 1);
  info->ai_family = is4 ? AF_INET : AF_INET6;
  info->ai_socktype = SOCK_STREAM;
  info->ai_protocol = IPPROTO_TCP;
  info->ai_addrlen = is4 ? sizeof in4 : sizeof in6;
  info->ai_addr = is4 ? g_memdup2 (&in4, sizeof in4) : g_memdup2 (&in6, sizeof in6);
  return info;
}

/* Called by libcurl's resolver thread; the test's own waits for it. */
int
getaddrinfo (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
  g_auto (GStrv) words = g_strsplit (lookups[n_lookups], " ", -1);
  struct addrinfo **end = ret;

  if (lookups[n_lookups + 1] != NULL)
    n_lookups++;
  *ret = NULL;
  for (gsize i = 0; words[i] != NULL; i++)
    {
      *end = make_info (words[i], service != NULL ? (guint16) atoi (service) : 0);
      end = &(*end)->ai_next;
    }
  return 0;
}

void
freeaddrinfo (struct addrinfo *list)
{
  while (list != NULL)
    {
      struct addrinfo *next = list->ai_next;

      g_free (list->ai_addr);
      g_free (list);
      list = next;
    }
}

/* Nothing leaves this process: who would have been called is noted, and the call refused. */
int
connect (int fd, const struct sockaddr *address, socklen_t n_bytes)
{
  char text[INET6_ADDRSTRLEN] = "?";

  if (address->sa_family == AF_INET)
    (void) inet_ntop (AF_INET, &((const struct sockaddr_in *) (const void *) address)->sin_addr, text,
                      sizeof text);
  else if (address->sa_family == AF_INET6)
    (void) inet_ntop (AF_INET6, &((const struct sockaddr_in6 *) (const void *) address)->sin6_addr, text,
                      sizeof text);
  g_string_append_printf (connected, "%s%s", connected->len > 0 ? " " : "", text);
  errno = ECONNREFUSED;
  return -1;
}

typedef struct {
  gboolean over;
  SbxFailure failure;
} Outcome;

static void
on_done (const SbxUpstreamResult *result, gpointer user_data)
{
  Outcome *outcome = user_data;

  outcome->over = TRUE;
  outcome->failure = result->failure;
}

static SbxFailure
call (SbxUpstream *upstream, const char *url, gboolean allow_private)
{
  g_autoptr (GBytes) body = g_bytes_new_static ("{}", 2);
  SbxEndpoint *endpoint = sbx_endpoint_new ();
  SbxUpstreamRequest request = {
    .endpoint = endpoint, .body = body, .accept = "application/json", .timeout_msec = 10000
  };
  Outcome outcome = { 0 };

  g_free (endpoint->url);
  endpoint->url = g_strdup (url);
  endpoint->allow_private = allow_private;
  (void) sbx_upstream_start (upstream, &request, on_done, &outcome);
  while (!outcome.over)
    g_main_context_iteration (NULL, TRUE);
  sbx_endpoint_free (endpoint);
  return outcome.failure;
}

/* A public address is tried, and a private one beside it is not. */
static void
test_one_answer (void)
{
  static const struct {
    const char *answer[2];
    gboolean allow_private;
    const char *connected;
    SbxFailure failure;
  } cases[] = {
    { { "127.0.0.1" }, FALSE, "", SBX_FAILURE_ADDRESS_REFUSED },
    { { "169.254.169.254" }, FALSE, "", SBX_FAILURE_ADDRESS_REFUSED },
    { { "10.0.0.1 192.168.0.1 ::1 fd00::1" }, FALSE, "", SBX_FAILURE_ADDRESS_REFUSED },
    { { "::ffff:127.0.0.1" }, FALSE, "", SBX_FAILURE_ADDRESS_REFUSED },
    { { "8.8.8.8" }, FALSE, "8.8.8.8", SBX_FAILURE_MODEL_UNREACHABLE },
    { { "127.0.0.1" }, TRUE, "127.0.0.1", SBX_FAILURE_MODEL_UNREACHABLE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (SbxUpstream) upstream = sbx_upstream_new ();

      g_test_message ("%s", cases[i].answer[0]);
      lookups = cases[i].answer;
      n_lookups = 0;
      g_string_truncate (connected, 0);
      g_assert_cmpint (call (upstream, "https://model.example/v1", cases[i].allow_private), ==,
                       cases[i].failure);
      g_assert_cmpstr (connected->str, ==, cases[i].connected);
    }
}

static void
test_mixed_answer (void)
{
  static const char *const answers[] = { "8.8.8.8 127.0.0.1 169.254.169.254", NULL };
  g_autoptr (SbxUpstream) upstream = sbx_upstream_new ();

  lookups = answers;
  n_lookups = 0;
  g_string_truncate (connected, 0);
  g_assert_cmpint (call (upstream, "https://model.example/v1", FALSE), !=, SBX_FAILURE_NONE);
  g_assert_cmpstr (connected->str, ==, "8.8.8.8");
}

/* Rebinding: the name was fine when it was first asked for, and leads elsewhere the next time. */
static void
test_second_answer (void)
{
  static const char *const answers[] = { "8.8.8.8", "127.0.0.1", NULL };

  lookups = answers;
  n_lookups = 0;
  g_string_truncate (connected, 0);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (SbxUpstream) upstream = sbx_upstream_new (); /* with no names kept */

      g_assert_cmpint (call (upstream, "https://model.example/v1", FALSE), ==,
                       i == 0 ? SBX_FAILURE_MODEL_UNREACHABLE : SBX_FAILURE_ADDRESS_REFUSED);
    }
  g_assert_cmpstr (connected->str, ==, "8.8.8.8");
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  connected = g_string_new (NULL);
  g_assert_cmpint (curl_global_init (CURL_GLOBAL_DEFAULT), ==, CURLE_OK);
  g_test_add_func ("/egress/rebinding/one-answer", test_one_answer);
  g_test_add_func ("/egress/rebinding/mixed-answer", test_mixed_answer);
  g_test_add_func ("/egress/rebinding/second-answer", test_second_answer);
  status = g_test_run ();
  curl_global_cleanup ();
  g_string_free (connected, TRUE);
  return status;
}
