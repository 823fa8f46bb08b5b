/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* sandbox-tool-clock: the example host tool. Reads what sandboxd sends (one line about the caller, then the
 * guest's input up to the end) and prints the time: RFC 3339, in UTC or in the zone of the input's
 * "timezone".
 *
 * What is wrong with the input is told in words, as the result: the model reads it and can try again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json-member.h"
#include "base/json-tree.h"

#define MAX_INPUT_BYTES (512u * 1024u)

static GBytes *
read_all (int fd)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint8 piece[8192];
  gssize n;

  while ((n = read (fd, piece, sizeof piece)) != 0)
    {
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 || bytes->len + (gsize) n > MAX_INPUT_BYTES)
        return NULL;
      g_byte_array_append (bytes, piece, (guint) n);
    }
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

/* The zone that the input names; NULL for UTC. */
static gboolean
read_zone (const char *input, gsize n_bytes, char **ret_zone)
{
  g_autoptr (JsonNode) root = sbx_json_read (input, n_bytes, MAX_INPUT_BYTES, NULL);
  JsonNode *zone;

  *ret_zone = NULL;
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    return FALSE;
  zone = json_object_get_member (json_node_get_object (root), "timezone");
  if (zone == NULL || JSON_NODE_HOLDS_NULL (zone))
    return TRUE;
  *ret_zone = g_strdup (sbx_json_node_text (zone));
  return *ret_zone != NULL;
}

static GTimeZone *
find_zone (const char *name)
{
  if (name == NULL || *name == '\0')
    return g_time_zone_new_utc ();
  /* GLib takes a path for the name of a zone; a guest may not name files. */
  if (*name == '/' || *name == ':' || strstr (name, "..") != NULL || strlen (name) > 64)
    return NULL;
  return g_time_zone_new_identifier (name);
}

int
main (void)
{
  g_autoptr (GBytes) all = read_all (STDIN_FILENO);
  g_autofree char *name = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GTimeZone) zone = NULL;
  g_autoptr (GDateTime) now = NULL;
  gsize n_bytes = 0;
  const char *data = all != NULL ? g_bytes_get_data (all, &n_bytes) : NULL;
  const char *line_end = data != NULL ? memchr (data, '\n', n_bytes) : NULL;

  /* Not sandboxd's words: nothing to answer, which counts as a failure of the tool. */
  if (line_end == NULL)
    return 1;
  if (!read_zone (line_end + 1, n_bytes - (gsize) (line_end + 1 - data), &name))
    {
      puts ("The input must be an object; \"timezone\", where given, must be a text such as Europe/Vienna.");
      return 0;
    }
  zone = find_zone (name);
  if (zone == NULL)
    {
      puts ("There is no time zone of that name; use an IANA name such as Europe/Vienna.");
      return 0;
    }
  now = g_date_time_new_now (zone);
  /* "Z" for UTC itself, RFC 3339's way; "+00:00" is a zone that happens to agree with it. */
  text =
    g_date_time_format (now, name == NULL || *name == '\0' ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%dT%H:%M:%S%:z");
  fputs (text, stdout);
  return 0;
}
