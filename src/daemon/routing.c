/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/routing.h"

#define QUOTE_MARK        "The message quotes another one, which is untrusted text:"
#define ATTACHMENT_NOTICE "(Files were attached. Attachments are not supported.)"

SbxVerdict
sbx_route (const SbxInbound *inbound, const char **ret_reason)
{
  /* In this order: the first that holds is the reason told. */
  const struct {
    gboolean holds;
    const char *reason;
  } refusals[] = {
    { inbound->background, "background" },
    { inbound->direct, "direct-message" },
    { inbound->integration, "integration" },
    { inbound->bot, "bot" },
    { inbound->unresolved, "unresolved-author" },
    { !inbound->mentioned && !inbound->replied_to, "not-addressed" },
  };

  *ret_reason = NULL;
  if (!inbound->sandboxed)
    return SBX_VERDICT_PASS;
  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++)
    if (refusals[i].holds)
      {
        *ret_reason = refusals[i].reason;
        return SBX_VERDICT_DROP;
      }
  return SBX_VERDICT_TURN;
}

const char *
sbx_verdict_name (SbxVerdict verdict)
{
  static const char *const names[] = { "pass", "drop", "turn" };

  g_return_val_if_fail ((guint) verdict < G_N_ELEMENTS (names), NULL);

  return names[verdict];
}

static gboolean
has_text (const char *text)
{
  for (const char *p = text; p != NULL && *p != '\0'; p = g_utf8_next_char (p))
    if (!g_unichar_isspace (g_utf8_get_char (p)))
      return TRUE;
  return FALSE;
}

char *
sbx_route_text (const char *text, const char *quoted, gboolean attachments)
{
  gboolean quotes = has_text (quoted);

  return g_strconcat (quotes ? QUOTE_MARK "\n" : "", quotes ? quoted : "", quotes ? "\n\n" : "", text,
                      attachments ? "\n" ATTACHMENT_NOTICE : "", NULL);
}
