/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the head reader makes of requests, for test-head-differential.py. Standard input: requests, each
 * behind its length as a line. Standard output, a line each: "-" where it is not accepted, else the parts in
 * hexadecimal: length of the head, content length, method, target, then name and value of each field. */
#include "broker/http-head.h"

#include <stdio.h>
#include <stdlib.h>

static void
print_text (SbxHttpText text)
{
  putchar (' ');
  if (text.n_bytes == 0)
    putchar ('.');
  for (gsize i = 0; i < text.n_bytes; i++)
    printf ("%02x", (guint) (guchar) text.data[i]);
}

static void
print_head (const char *data, gsize n_bytes)
{
  SbxHttpHead head;
  gsize place = 0;

  if (sbx_http_head_find (data, n_bytes, &place) != SBX_HTTP_HEAD_WHOLE
      || sbx_http_head_parse (data, place, &head) != SBX_HTTP_HEAD_WHOLE)
    {
      puts ("-");
      return;
    }
  printf ("%zu %" G_GUINT64_FORMAT, place, head.content_length);
  print_text (head.method);
  print_text (head.target);
  for (guint i = 0; i < head.n_fields; i++)
    {
      print_text (head.fields[i].name);
      print_text (head.fields[i].value);
    }
  putchar ('\n');
}

int
main (void)
{
  char line[32];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      gsize n_bytes = strtoul (line, NULL, 10);
      g_autofree char *data = g_malloc (MAX (n_bytes, 1));

      if (fread (data, 1, n_bytes, stdin) != n_bytes)
        return EXIT_FAILURE;
      print_head (data, n_bytes);
    }
  return EXIT_SUCCESS;
}
