/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/http-reply.h"

#include <string.h>

typedef struct {
  guint status;
  const char *reason;
  const char *text;
} Refusal;

static const Refusal refusals[] = {
  { 400, "Bad Request", "bad request\n" },
  { 403, "Forbidden", "not allowed\n" },
  { 404, "Not Found", "not found\n" },
  { 410, "Gone", "the turn is not running\n" },
  { 429, "Too Many Requests", "no call left, or one is running\n" },
  { 431, "Request Header Fields Too Large", "bad request\n" },
  { 502, "Bad Gateway", "the call failed\n" },
};

static GBytes *
reply (guint status, const char *reason, const char *kind, gconstpointer body, gsize n_bytes)
{
  GString *out = g_string_sized_new (n_bytes + 160);

  g_string_append_printf (out,
                          "HTTP/1.1 %u %s\r\n"
                          "Content-Type: %s\r\n"
                          "Content-Length: %" G_GSIZE_FORMAT "\r\n"
                          "Connection: close\r\n"
                          "\r\n",
                          status, reason, kind, n_bytes);
  g_string_append_len (out, body, (gssize) n_bytes);
  return g_string_free_to_bytes (out);
}

GBytes *
sbx_http_reply_refusal (guint status)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++)
    if (refusals[i].status == status)
      return reply (status, refusals[i].reason, "text/plain", refusals[i].text, strlen (refusals[i].text));
  g_return_val_if_reached (sbx_http_reply_refusal (502));
}

GBytes *
sbx_http_reply_json (GBytes *json)
{
  gsize n_bytes;
  gconstpointer data = g_bytes_get_data (json, &n_bytes);

  return reply (200, "OK", "application/json", data, n_bytes);
}
