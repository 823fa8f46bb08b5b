/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "compaction.h"

#include <string.h>

#include "broker-client.h"

#define SUMMARY "{\"text\":\" short \"}"
#define CHOICE  "{\"choices\":[{\"message\":{\"content\":\"short\"}}]}"

/* What compactor and model answer (NULL: the call fails), and what must come of it. */
static const struct {
  const char *turn; /* more members of it */
  gint64 calls_left;
  const char *tool;
  const char *model;
  const char *by;
  SbxCompactionReason reason;
  guint n_calls;
  guint most_msec; /* that a call may take: half of what the turn has; all of them end at the same time */
} cases[] = {
  { "\"remaining_ms\":40000,\"compaction\":{\"compactor\":\"c\"}", -1, SUMMARY, NULL, "tool",
    SBX_COMPACTION_REASON_NONE, 1, 20000 },
  { "\"remaining_ms\":40000,\"compaction\":{\"compactor\":\"c\"}", -1, NULL, CHOICE, "model",
    SBX_COMPACTION_REASON_COMPACTOR_FAILED, 2, 20000 },
  { "\"remaining_ms\":40000,\"compaction\":{\"compactor\":\"c\"}", -1, "{\"text\":\" \"}", CHOICE, "model",
    SBX_COMPACTION_REASON_COMPACTOR_INVALID, 2, 20000 },
  { "\"remaining_ms\":40000,\"compaction\":{\"compactor\":null}", -1, SUMMARY, CHOICE, "model",
    SBX_COMPACTION_REASON_NO_COMPACTOR, 1, 20000 },
  { "\"remaining_ms\":40000,\"compaction\":{}", -1, NULL, NULL, "dropped", SBX_COMPACTION_REASON_MODEL_FAILED,
    1, 20000 },
  { "\"remaining_ms\":40000,\"compaction\":{}", -1, NULL, "[]", "dropped",
    SBX_COMPACTION_REASON_MODEL_INVALID, 1, 20000 },
  /* Two calls are left for the turn itself. */
  { "\"remaining_ms\":40000,\"compaction\":{\"compactor\":\"c\"}", 3, NULL, CHOICE, "dropped",
    SBX_COMPACTION_REASON_NO_CALLS, 1, 10000 },
  { "\"remaining_ms\":40000,\"compaction\":{\"compactor\":\"c\"}", 2, SUMMARY, CHOICE, "dropped",
    SBX_COMPACTION_REASON_NO_CALLS, 0, 0 },
  { "\"remaining_ms\":3000,\"compaction\":{\"compactor\":\"c\"}", -1, SUMMARY, CHOICE, "dropped",
    SBX_COMPACTION_REASON_NO_TIME, 0, 0 },
  /* However much there is, no guest waits for longer than this. */
  { "\"remaining_ms\":600000,\"compaction\":{}", -1, NULL, CHOICE, "model",
    SBX_COMPACTION_REASON_NO_COMPACTOR, 1, SBX_COMPACTION_MAX_MSEC },
};

typedef struct {
  guint place;
  guint n_calls;
  guint msec;
} Seen;

static GByteArray *
post (gpointer user_data, const char *path, const GString *body, guint deadline_msec, GError **error)
{
  Seen *seen = user_data;
  gboolean is_tool = g_str_equal (path, "/tools/c");
  const char *answer = is_tool ? cases[seen->place].tool : cases[seen->place].model;
  GByteArray *bytes;

  g_assert_true (is_tool || g_str_equal (path, "/model"));
  /* The old summary is given once, and is no message any more. */
  g_assert_nonnull (
    strstr (body->str, is_tool ? "\"previous_summary\":\"old\"" : "\\\"previous_summary\\\":\\\"old\\\""));
  g_assert_null (strstr (body->str, "Summary of what was said"));
  seen->n_calls++;
  seen->msec = MAX (seen->msec, deadline_msec);
  if (answer == NULL)
    {
      g_set_error_literal (error, SBX_BROKER_ERROR, SBX_BROKER_ERROR_STATUS, "status 502");
      return NULL;
    }
  bytes = g_byte_array_new ();
  return g_byte_array_append (bytes, (const guint8 *) answer, (guint) strlen (answer));
}

static void
test_table (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *turn = g_strdup_printf (
        "{\"text\":\"t\",\"speaker\":{\"id\":\"i\",\"name\":\"n\"},\"model\":\"m\",\"prompt\":\"p\","
        "\"timeZone\":\"UTC\",\"tools\":[],\"mcp\":[],%s}",
        cases[i].turn);
      g_autoptr (SbxTurnInput) input = sbx_turn_input_read (turn, strlen (turn), NULL);
      g_autoptr (GPtrArray) history = sbx_history_new ();
      g_autoptr (GPtrArray) shorter = NULL;
      SbxCompactionReport report;
      Seen seen = { .place = i };

      g_test_message ("%s", cases[i].turn);
      sbx_history_add (history, "user", SBX_COMPACTION_HEAD "old");
      for (guint k = 1; k < 20; k++)
        sbx_history_add (history, k % 2 == 0 ? "user" : "assistant", "words of somebody");
      shorter = sbx_compaction_run (input, history, 0, cases[i].calls_left, post, &seen, &report);
      g_assert_cmpstr (report.by, ==, cases[i].by);
      g_assert_cmpint (report.reason, ==, cases[i].reason);
      g_assert_cmpuint (report.tokens_before, >, 50);
      g_assert_cmpuint (seen.n_calls, ==, cases[i].n_calls);
      g_assert_cmpuint (seen.msec, <=, cases[i].most_msec);
      g_assert_true ((shorter == NULL) == g_str_equal (report.by, "dropped"));
      if (shorter == NULL)
        continue;
      g_assert_cmpuint (shorter->len, ==, 1 + SBX_COMPACTION_KEPT);
      g_assert_cmpstr (((const SbxHistoryMessage *) shorter->pdata[0])->content, ==,
                       SBX_COMPACTION_HEAD "short");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/compaction/table", test_table);
  return g_test_run ();
}
