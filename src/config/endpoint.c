/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/endpoint.h"

#include <gio/gio.h>
#include <string.h>

#define MAX_URL_BYTES 2048u

SbxEndpoint *
sbx_endpoint_new (void)
{
  SbxEndpoint *self = g_new0 (SbxEndpoint, 1);

  self->url = g_strdup ("");
  self->key_file = g_strdup ("");
  self->ca_file = g_strdup ("");
  self->auth_header = g_strdup ("Authorization");
  self->auth_prefix = g_strdup ("Bearer");
  return self;
}

void
sbx_endpoint_free (SbxEndpoint *self)
{
  if (self == NULL)
    return;
  g_free (self->url);
  g_free (self->key_file);
  g_free (self->ca_file);
  g_free (self->auth_header);
  g_free (self->auth_prefix);
  g_free (self);
}

static GUri *
parse (const char *url)
{
  return g_uri_parse (url, G_URI_FLAGS_ENCODED | G_URI_FLAGS_HAS_PASSWORD, NULL);
}

static gboolean
host_is_loopback (const char *host)
{
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (host);

  return address != NULL ? g_inet_address_get_is_loopback (address)
                         : g_ascii_strcasecmp (host, "localhost") == 0;
}

/* GUri unescapes hosts, libcurl does too, but by its own rules: none is better than two readings. */
static gboolean
authority_is_escaped (const char *url)
{
  const char *start = strstr (url, "://");
  gsize n_bytes = start != NULL ? strcspn (start + 3, "/?#") : 0;

  return n_bytes > 0 && memchr (start + 3, '%', n_bytes) != NULL;
}

const char *
sbx_endpoint_url_fault (const char *url, gboolean plain_http)
{
  g_autoptr (GUri) uri = NULL;
  const char *host;

  if (strlen (url) > MAX_URL_BYTES)
    return "it must have at most 2,048 bytes";
  for (const char *c = url; *c != '\0'; c++)
    if (*c <= ' ' || *c >= 0x7f || *c == '\\')
      return "it must be an absolute https URL in plain ASCII, without blanks or backslashes";
  uri = parse (url);
  host = uri != NULL ? g_uri_get_host (uri) : NULL;
  if (host == NULL || host[0] == '\0')
    return "it must be an absolute https URL with a host, such as "
           "https://api.example.com/v1/chat/completions";
  /* GUri calls an empty user none, so the text itself is asked. */
  if (g_uri_get_userinfo (uri) != NULL || strchr (host, '@') != NULL)
    return "it must have no user and no password (keys belong into KeyFile=)";
  if (g_uri_get_fragment (uri) != NULL)
    return "it must have no fragment (#…)";
  if (authority_is_escaped (url))
    return "its host must be a plain name or address";
  if (strcmp (g_uri_get_scheme (uri), "https") == 0)
    return NULL;
  if (strcmp (g_uri_get_scheme (uri), "http") != 0)
    return "it must begin with https://";
  if (!plain_http)
    return "it must begin with https:// (http:// only to a loopback address, and only with PlainHTTP=yes)";
  if (!host_is_loopback (host))
    return "plain http:// is allowed to a loopback address or localhost only";
  return NULL;
}

char *
sbx_endpoint_host (const char *url)
{
  g_autoptr (GUri) uri = parse (url);

  return uri != NULL ? g_strdup (g_uri_get_host (uri)) : NULL;
}

gboolean
sbx_endpoint_names_address (const char *url)
{
  g_autofree char *host = sbx_endpoint_host (url);

  return host != NULL && g_hostname_is_ip_address (host);
}

gboolean
sbx_path_is_clean (const char *path)
{
  g_auto (GStrv) parts = NULL;

  if (path[0] != '/' || !g_utf8_validate (path, -1, NULL))
    return FALSE;
  parts = g_strsplit (path, "/", -1);
  return !g_strv_contains ((const char *const *) parts, "..");
}

gboolean
sbx_header_name_is_right (const char *name)
{
  static const char *const transport[] = { "host",
                                           "connection",
                                           "content-length",
                                           "content-type",
                                           "transfer-encoding",
                                           "accept",
                                           "accept-encoding",
                                           "expect",
                                           "te",
                                           "trailer",
                                           "upgrade",
                                           "user-agent",
                                           "mcp-session-id",
                                           "mcp-protocol-version",
                                           NULL };
  g_autofree char *lower = g_ascii_strdown (name, -1);

  if (name[0] == '\0' || strlen (name) > 64 || g_strv_contains (transport, lower))
    return FALSE;
  for (const char *c = name; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && strchr ("!#$%&'*+-.^_`|~", *c) == NULL)
      return FALSE;
  return TRUE;
}
