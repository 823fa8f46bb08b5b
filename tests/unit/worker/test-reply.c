/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "reply.h"

static void
test_plain_and_extended (void)
{
  g_autoptr (SbxReply) reply = sbx_reply_new ();
  g_autoptr (GString) plain = NULL;
  g_autoptr (GString) extended = NULL;

  reply->text = g_strdup ("a\nb");
  g_ptr_array_add (reply->set_aside, (gpointer) "memory.json");
  reply->compaction = SBX_COMPACTION_REASON_NO_COMPACTOR;
  reply->compaction_by = "model";
  reply->tokens_before = 41;
  plain = sbx_reply_write (reply);
  g_assert_cmpstr (plain->str, ==, "{\"ok\":true,\"text\":\"a\\nb\"}\n");
  reply->extended = TRUE;
  extended = sbx_reply_write (reply);
  g_assert_cmpstr (extended->str, ==,
                   "{\"ok\":true,\"text\":\"a\\nb\",\"set_aside\":[\"memory.json\"],\"compaction\":"
                   "{\"by\":\"model\",\"reason\":\"no-compactor\",\"tokens_before\":41}}\n");
}

/* Whatever went wrong, a guest reads the same; the exit status tells the graceful end apart. */
static void
test_failures (void)
{
  g_autofree char *first = NULL;

  for (SbxReplyReason reason = SBX_REPLY_INPUT; reason <= _SBX_REPLY_LAST; reason++)
    {
      g_autoptr (SbxReply) reply = sbx_reply_new ();
      g_autoptr (GString) line = NULL;

      reply->reason = reason;
      line = sbx_reply_write (reply);
      g_assert_true (g_str_has_prefix (line->str, "{\"ok\":false,\"text\":\""));
      g_assert_nonnull (sbx_reply_failure_name (reason));
      g_assert_cmpint (sbx_reply_exit_status (reply), ==, reason == SBX_REPLY_CALLS_SPENT ? 0 : 1);
      if (reason == SBX_REPLY_CALLS_SPENT)
        continue;
      if (first == NULL)
        first = g_strdup (line->str);
      g_assert_cmpstr (line->str, ==, first);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/reply/extended", test_plain_and_extended);
  g_test_add_func ("/worker/reply/failures", test_failures);
  return g_test_run ();
}
