/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/log.h"

#include <string.h>

/* Standard error of a test is not the journal, so entries are plain lines. */
static void
log_in_subprocess (const char *debug_invocation, void (*entries) (void))
{
  g_unsetenv ("JOURNAL_STREAM");
  g_setenv ("DEBUG_INVOCATION", debug_invocation, TRUE);
  sbx_log_init ("log-test");
  entries ();
}

static void
write_entries (void)
{
  const char *const more[] = { "SANDBOX_CALLS", "12", NULL };

  sbx_log_event (SBX_LOG_ID_TURN_FINISHED, LOG_INFO,
                 &(SbxLogFields){ .turn = "t1", .channel = "chat:guests", .more = more }, "Turn %s finished",
                 "t1");
  sbx_log (LOG_WARNING, NULL, "two\nlines \x1b[31m");
  sbx_log (LOG_DEBUG, NULL, "hidden");
  g_message ("from GLib");
}

static void
write_debug_entries (void)
{
  sbx_log (LOG_DEBUG, NULL, "shown");
}

static void
test_plain_lines (void)
{
  if (g_test_subprocess ())
    {
      log_in_subprocess ("0", write_entries);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr (
    "*log-test: Turn t1 finished\nlog-test: two lines  [31m\nlog-test: from GLib\n*");
  g_test_trap_assert_stderr_unmatched ("*hidden*");
  g_test_trap_assert_stderr_unmatched ("*chat:guests*");
}

static void
test_debug (void)
{
  if (g_test_subprocess ())
    {
      log_in_subprocess ("1", write_debug_entries);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("*log-test: shown\n*");
}

/* As journald wants them: 32 small hex digits, each once. */
static void
test_ids (void)
{
  static const char *const ids[] = {
    SBX_LOG_ID_SERVICE_READY,
    SBX_LOG_ID_CONFIG_REJECTED,
    SBX_LOG_ID_CHANNEL_MODE_CHANGED,
    SBX_LOG_ID_TURN_ACCEPTED,
    SBX_LOG_ID_TURN_STARTED,
    SBX_LOG_ID_TURN_FINISHED,
    SBX_LOG_ID_TURN_REFUSED,
    SBX_LOG_ID_CALL,
    SBX_LOG_ID_CALL_REFUSED,
    SBX_LOG_ID_CLEANUP_FAILED,
    SBX_LOG_ID_CLEANUP_DONE,
    SBX_LOG_ID_SWEEP_REMOVED,
    SBX_LOG_ID_STORE_SET_ASIDE,
    SBX_LOG_ID_TURN_STUCK,
    SBX_LOG_ID_PREPARED_READY,
    SBX_LOG_ID_PREPARED_DROPPED,
    SBX_LOG_ID_CONTAINER_STUCK,
    SBX_LOG_ID_WORKER_OOM,
    SBX_LOG_ID_KEY_UNREADABLE,
    SBX_LOG_ID_BUS_LOST,
    SBX_LOG_ID_BUS_BACK,
    SBX_LOG_ID_COMPACTION_FALLBACK,
  };
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_assert_cmpuint (strspn (ids[i], "0123456789abcdef"), ==, 32);
      g_assert_cmpuint (strlen (ids[i]), ==, 32);
      g_assert_true (g_hash_table_add (seen, (gpointer) ids[i]));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/log/plain-lines", test_plain_lines);
  g_test_add_func ("/log/debug", test_debug);
  g_test_add_func ("/log/ids", test_ids);
  return g_test_run ();
}
