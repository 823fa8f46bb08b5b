/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* log: the journal entries of our services, of one channel or of one turn. */
#include "ctl/ctl.h"

#include <errno.h>
#include <stdio.h>
#include <systemd/sd-journal.h>

#include "ctl/entry.h"
#include "ctl/timestamp.h"

#define USUAL_LINES 1000

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sd_journal, sd_journal_close)

/* Fields that journald sets itself, so that nobody else's entries can pass for ours. */
static const char *const units[] = {
  "_SYSTEMD_UNIT=sandboxd.service",
  "_SYSTEMD_UNIT=sandbox-egress.service",
  "_SYSTEMD_UNIT=sandboxd-cleanup.service",
};

static SbxExit
failed (int r)
{
  g_printerr ("Cannot read the journal: %s\nMembers of the groups systemd-journal and adm can, and root.\n",
              g_strerror (-r));
  return r == -EACCES || r == -EPERM ? SBX_EXIT_DENIED : SBX_EXIT_FAILED;
}

static int
add_matches (sd_journal *journal, const char *word)
{
  int r = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (units) && r >= 0; i++)
    r = sd_journal_add_match (journal, units[i], 0);
  if (r >= 0 && word != NULL)
    {
      g_autofree char *match =
        g_strdup_printf ("%s=%s", sbx_entry_word_is_turn (word) ? "SANDBOX_TURN" : "SANDBOX_CHANNEL", word);

      r = sd_journal_add_match (journal, match, 0);
    }
  return r;
}

static int
print_entry (SbxCtl *ctl, sd_journal *journal, gboolean with_channel)
{
  g_autoptr (SbxEntry) entry = NULL;
  g_autofree char *text = NULL;
  const void *data = NULL;
  guint64 usec = 0;
  gsize n_bytes = 0;
  int r = sd_journal_get_realtime_usec (journal, &usec);

  if (r < 0)
    return r;
  entry = sbx_entry_new ((gint64) usec);
  SD_JOURNAL_FOREACH_DATA (journal, data, n_bytes)
  sbx_entry_take (entry, data, n_bytes);
  text = ctl->json != SBX_JSON_OFF ? sbx_entry_json (entry)
                                   : sbx_entry_text (entry, with_channel, sbx_ctl_has_color ());
  g_print ("%s", text);
  return 0;
}

/* What is shown, in microseconds since the epoch; 0: without that bound. */
typedef struct {
  gint64 since_usec;
  gint64 until_usec;
} Range;

static gboolean
read_time (const char *option, const char *text, GDateTime *now, gint64 *ret_usec)
{
  if (text == NULL || sbx_timestamp_parse (text, now, ret_usec))
    return TRUE;
  g_printerr (
    "%s= takes a time such as \"2026-11-29 16:30\", \"today\", \"2h ago\" or \"-30min\", not \"%s\".\n",
    option, text);
  return FALSE;
}

static gboolean
read_range (SbxCtl *ctl, Range *ret_range)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();

  *ret_range = (Range){ 0 };
  if (!read_time ("--since", ctl->since, now, &ret_range->since_usec)
      || !read_time ("--until", ctl->until, now, &ret_range->until_usec))
    return FALSE;
  if (ctl->until == NULL || !ctl->follow)
    return TRUE;
  g_printerr ("--follow goes on and --until= ends: use one.\n");
  return FALSE;
}

static int
entry_is_before (sd_journal *journal, gint64 usec)
{
  guint64 own = 0;
  int r = sd_journal_get_realtime_usec (journal, &own);

  return r < 0 ? r : own < (guint64) usec;
}

/* To the first entry that is shown. Returns 0 where there is none. */
static int
seek (sd_journal *journal, const Range *range, int lines)
{
  int r;

  /* All since then: forwards. */
  if (range->since_usec > 0 && lines <= 0)
    {
      r = sd_journal_seek_realtime_usec (journal, (guint64) range->since_usec);
      return r < 0 ? r : sd_journal_next (journal);
    }
  r = range->until_usec > 0 ? sd_journal_seek_realtime_usec (journal, (guint64) range->until_usec + 1)
                            : sd_journal_seek_tail (journal);
  if (r >= 0)
    r = sd_journal_previous_skip (journal, (guint64) (lines > 0 ? lines : USUAL_LINES));
  while (r > 0 && entry_is_before (journal, range->since_usec) > 0)
    r = sd_journal_next (journal);
  return r;
}

SbxExit
sbx_verb_log (SbxCtl *ctl, int n_words, char **words)
{
  const char *word = n_words > 1 ? words[1] : NULL;
  gboolean with_channel = word == NULL;
  g_autoptr (sd_journal) journal = NULL;
  Range range;
  gboolean any = FALSE;
  int r;

  if (!read_range (ctl, &range))
    return SBX_EXIT_USAGE;
  if (word != NULL && !sbx_entry_word_is_turn (word) && !sbx_entry_word_is_channel (word))
    {
      g_printerr (
        "\"%s\" is neither a channel, such as discord:1234, nor a turn's id, 16 hexadecimal digits.\n", word);
      return SBX_EXIT_USAGE;
    }
  if (ctl->host != NULL)
    {
      g_printerr ("The journal of another host is read there: ssh %s sandboxctl log\n", ctl->host);
      return SBX_EXIT_USAGE;
    }
  r = sd_journal_open (&journal, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
  if (r >= 0)
    r = add_matches (journal, word);
  if (r >= 0)
    r = seek (journal, &range, ctl->lines);
  while (r > 0 && (range.until_usec == 0 || entry_is_before (journal, range.until_usec + 1) > 0))
    {
      any = TRUE;
      r = print_entry (ctl, journal, with_channel);
      if (r >= 0)
        r = sd_journal_next (journal);
    }
  if (r >= 0 && !any && !ctl->follow && ctl->json == SBX_JSON_OFF)
    g_printerr ("No entries. Only root and members of systemd-journal and adm see them.\n");
  while (r >= 0 && ctl->follow)
    {
      (void) fflush (stdout);
      r = sd_journal_wait (journal, UINT64_MAX);
      while (r >= 0 && (r = sd_journal_next (journal)) > 0)
        r = print_entry (ctl, journal, with_channel);
    }
  return r < 0 ? failed (r) : SBX_EXIT_GOOD;
}
