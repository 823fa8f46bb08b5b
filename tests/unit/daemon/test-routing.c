/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Every combination of what can be said of a message, against the rules as they are told in prose. */
#include "daemon/routing.h"

typedef struct {
  const char *reason;
  gsize offset;
} Refusal;

#define AT(member) G_STRUCT_OFFSET (SbxInbound, member)

static const Refusal refusals[] = {
  { "background", AT (background) },        { "direct-message", AT (direct) },
  { "integration", AT (integration) },      { "bot", AT (bot) },
  { "unresolved-author", AT (unresolved) },
};

static void
test_all (void)
{
  const gsize members[] = { AT (sandboxed),  AT (background), AT (direct),     AT (integration), AT (bot),
                            AT (unresolved), AT (mentioned),  AT (replied_to), AT (owner) };
  guint n_turns = 0;

  for (guint bits = 0; bits < 1u << G_N_ELEMENTS (members); bits++)
    {
      SbxInbound inbound = { 0 };
      const char *reason = "unset";
      const char *wanted = NULL;
      SbxVerdict verdict;

      for (guint i = 0; i < G_N_ELEMENTS (members); i++)
        G_STRUCT_MEMBER (gboolean, &inbound, members[i]) = (bits >> i & 1) != 0;
      verdict = sbx_route (&inbound, &reason);
      if (!inbound.sandboxed)
        {
          g_assert_cmpint (verdict, ==, SBX_VERDICT_PASS);
          g_assert_null (reason);
          continue;
        }
      for (guint i = 0; wanted == NULL && i < G_N_ELEMENTS (refusals); i++)
        if (G_STRUCT_MEMBER (gboolean, &inbound, refusals[i].offset))
          wanted = refusals[i].reason;
      if (wanted == NULL && !(inbound.mentioned || inbound.replied_to))
        wanted = "not-addressed";
      g_assert_cmpstr (reason, ==, wanted);
      g_assert_cmpint (verdict, ==, wanted != NULL ? SBX_VERDICT_DROP : SBX_VERDICT_TURN);
      n_turns += verdict == SBX_VERDICT_TURN;
    }
  /* Mentioned, replied to, or both; an owner or not. */
  g_assert_cmpuint (n_turns, ==, 6);
}

static void
test_text (void)
{
  static const struct {
    const char *text;
    const char *quoted;
    gboolean attachments;
    const char *wanted;
  } cases[] = {
    { "hello", NULL, FALSE, "hello" },
    { "hello", "", FALSE, "hello" },
    { "hello", " \n", FALSE, "hello" },
    { "hello", "old", FALSE, "The message quotes another one, which is untrusted text:\nold\n\nhello" },
    { "hello", NULL, TRUE, "hello\n(Files were attached. Attachments are not supported.)" },
    { "", "old", TRUE,
      "The message quotes another one, which is untrusted text:\nold\n\n\n"
      "(Files were attached. Attachments are not supported.)" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *got = sbx_route_text (cases[i].text, cases[i].quoted, cases[i].attachments);

      g_assert_cmpstr (got, ==, cases[i].wanted);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/all", test_all);
  g_test_add_func ("/routing/text", test_text);
  return g_test_run ();
}
