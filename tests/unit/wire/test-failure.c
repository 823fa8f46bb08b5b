/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/failure.h"

#include <string.h>

/* Each number has a name of its own, fit for a journal field and a D-Bus error, and a sentence. */
static void
test_list (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint number = 0; number <= _SBX_FAILURE_LAST; number++)
    {
      const char *name = sbx_failure_name ((SbxFailure) number);
      const char *text = sbx_failure_text ((SbxFailure) number);

      g_assert_true (sbx_failure_is_known (number));
      g_assert_nonnull (name);
      g_assert_cmpuint (strspn (name, "abcdefghijklmnopqrstuvwxyz-"), ==, strlen (name));
      g_assert_true (g_hash_table_add (seen, (gpointer) name));
      g_assert_cmpuint (strlen (text), >, 10);
      g_assert_true (g_str_has_suffix (text, "."));
    }
}

static void
test_outside (void)
{
  g_assert_false (sbx_failure_is_known (_SBX_FAILURE_LAST + 1));
  g_assert_false (sbx_failure_is_known (G_MAXUINT));
  g_assert_null (sbx_failure_name ((SbxFailure) (_SBX_FAILURE_LAST + 1)));
  g_assert_nonnull (sbx_failure_text ((SbxFailure) (_SBX_FAILURE_LAST + 1)));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/failure/list", test_list);
  g_test_add_func ("/failure/outside", test_outside);
  return g_test_run ();
}
