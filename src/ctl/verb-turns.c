/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* turns */
#include "ctl/ctl.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/names.h"
#include "ctl/turn-list.h"

/* The list as it is now; NULL, and said, where it cannot be had. */
static char *
list_turns (SbxCtl *ctl, SbxExit *ret_exit)
{
  g_autoptr (GPtrArray) turns = sbx_turn_list_get (ctl, ret_exit);
  g_autoptr (SbxTable) table = NULL;

  if (turns == NULL)
    return NULL;
  if (ctl->json != SBX_JSON_OFF)
    {
      g_autoptr (JsonNode) root = sbx_turn_list_json (turns);

      return sbx_json_text (root, ctl->json);
    }
  if (turns->len == 0)
    return g_strdup (ctl->no_legend ? "" : "No turn runs or waits.\n");
  table = sbx_turn_list_table (turns);
  return sbx_table_text (table, !ctl->no_legend);
}

static int
on_signal (sd_bus_message *message, void *userdata, sd_bus_error *error)
{
  gboolean *changed = userdata;

  *changed = TRUE;
  return 0;
}

/* Shows the list again at each signal of the service, and on a terminal each second, since ages grow. Ends
 * with the bus or by a signal to this process. */
static SbxExit
watch (SbxCtl *ctl)
{
  gboolean terminal = isatty (STDOUT_FILENO) && ctl->json == SBX_JSON_OFF;
  g_autofree char *last = NULL;
  gboolean changed = TRUE;
  SbxExit status = SBX_EXIT_GOOD;
  int r = sbx_ctl_connect (ctl, "watch the turns", &status);

  if (r < 0)
    return status;
  r = sd_bus_match_signal (ctl->bus, NULL, ctl->socket == NULL ? SBX_BUS_NAME : NULL, NULL, NULL, NULL,
                           on_signal, &changed);
  while (r >= 0)
    {
      g_autofree char *text = changed ? list_turns (ctl, &status) : NULL;

      if (changed && text == NULL)
        return status;
      changed = FALSE;
      if (text != NULL && (terminal || g_strcmp0 (text, last) != 0))
        {
          g_print ("%s%s", terminal ? "\033[H\033[2J" : "", text);
          (void) fflush (stdout);
          g_free (last);
          last = g_steal_pointer (&text);
        }
      /* What came while the list was asked for is processed first. */
      while ((r = sd_bus_process (ctl->bus, NULL)) > 0)
        continue;
      if (r == 0 && !changed)
        {
          r = sd_bus_wait (ctl->bus, terminal ? G_USEC_PER_SEC : UINT64_MAX);
          changed = r == 0 && terminal;
        }
      if (r == -EINTR)
        r = 0;
    }
  g_printerr ("The bus was lost: %s\n", g_strerror (-r));
  return SBX_EXIT_DOWN;
}

SbxExit
sbx_verb_turns (SbxCtl *ctl, int n_words, char **words)
{
  SbxExit status = SBX_EXIT_GOOD;
  g_autofree char *text = NULL;

  if (ctl->watch)
    return watch (ctl);
  text = list_turns (ctl, &status);
  if (text != NULL)
    g_print ("%s", text);
  return status;
}
