/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The words of a reply stand in two places, the worker's and the host's, since an image does not change with
 * its host. Whatever today's worker can say, today's broker understands. */
#include "broker/reply.h"
#include "reply.h"
#include "wire/reply.h"

static void
read_back (SbxReply *reply, SbxControlReply *ret_read)
{
  g_autoptr (GString) line = NULL;

  reply->extended = TRUE;
  line = sbx_reply_write (reply);
  g_assert_cmpint (sbx_reply_read (line->str, line->len, ret_read), ==, SBX_FAILURE_NONE);
}

static void
test_failures (void)
{
  /* NONE: the host names the turn's failure by what it saw itself. */
  static const SbxFailure expected[] = {
    [SBX_REPLY_FINE] = SBX_FAILURE_NONE,
    [SBX_REPLY_INPUT] = SBX_FAILURE_NONE,
    [SBX_REPLY_STORE_UNREADABLE] = SBX_FAILURE_STORE_UNREADABLE,
    [SBX_REPLY_DISK_FULL] = SBX_FAILURE_DISK_FULL,
    [SBX_REPLY_STORE_FAILED] = SBX_FAILURE_STORE_UNREADABLE,
    [SBX_REPLY_TOO_LARGE] = SBX_FAILURE_NONE,
    [SBX_REPLY_MODEL_FAILED] = SBX_FAILURE_NONE,
    [SBX_REPLY_MODEL_ANSWER] = SBX_FAILURE_MODEL_ANSWER,
    [SBX_REPLY_EMPTY] = SBX_FAILURE_MODEL_ANSWER,
    [SBX_REPLY_CALLS_SPENT] = SBX_FAILURE_NONE,
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (expected) == _SBX_REPLY_LAST + 1);
  for (SbxReplyReason reason = SBX_REPLY_INPUT; reason <= _SBX_REPLY_LAST; reason++)
    {
      g_autoptr (SbxReply) reply = sbx_reply_new ();
      g_auto (SbxControlReply) read = { 0 };

      reply->reason = reason;
      read_back (reply, &read);
      g_test_message ("%s", sbx_reply_failure_name (reason));
      g_assert_cmpint (read.failure, ==, expected[reason]);
    }
}

static void
test_compactions (void)
{
  for (SbxCompactionBy by = SBX_COMPACTION_BY_TOOL; by <= SBX_COMPACTION_DROPPED; by++)
    for (SbxCompactionReason reason = SBX_COMPACTION_REASON_NONE; reason <= _SBX_COMPACTION_REASON_LAST;
         reason++)
      {
        g_autoptr (SbxReply) reply = sbx_reply_new ();
        g_auto (SbxControlReply) read = { 0 };

        reply->text = g_strdup ("a");
        reply->compaction_by = sbx_reply_compaction_name (by);
        reply->compaction = reason;
        reply->tokens_before = 7;
        read_back (reply, &read);
        g_assert_cmpint (read.compaction, ==, by);
        g_assert_cmpuint (read.compaction_reason, ==, reason);
        g_assert_cmpuint (read.compaction_tokens_before, ==, 7);
      }
  /* The host knows no reason that the worker lacks. */
  g_assert_null (sbx_reply_reason_name (_SBX_COMPACTION_REASON_LAST + 1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/reply-words/failures", test_failures);
  g_test_add_func ("/worker/reply-words/compactions", test_compactions);
  return g_test_run ();
}
