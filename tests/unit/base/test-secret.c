/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/secret.h"

static void
test_peek (void)
{
  g_autoptr (SbxSecret) secret = sbx_secret_new ("key-and-more", 3);
  gsize n_bytes;

  g_assert_cmpstr (sbx_secret_peek (secret, &n_bytes), ==, "key");
  g_assert_cmpuint (n_bytes, ==, 3);
  g_assert_cmpstr (sbx_secret_peek (secret, NULL), ==, "key");
}

static void
test_poison_reaches_every_holder (void)
{
  g_autoptr (SbxSecret) first = sbx_secret_new ("key", 3);
  g_autoptr (SbxSecret) second = sbx_secret_ref (first);
  gsize n_bytes;

  sbx_secret_poison (first);
  sbx_secret_poison (first);
  g_assert_null (sbx_secret_peek (second, &n_bytes));
  g_assert_cmpuint (n_bytes, ==, 0);
}

static void
test_last_holder (void)
{
  SbxSecret *first = sbx_secret_new ("key", 3);
  g_autoptr (SbxSecret) second = sbx_secret_ref (first);

  sbx_secret_unref (first);
  g_assert_cmpstr (sbx_secret_peek (second, NULL), ==, "key");
  sbx_secret_unref (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/secret/peek", test_peek);
  g_test_add_func ("/secret/poison", test_poison_reaches_every_holder);
  g_test_add_func ("/secret/last-holder", test_last_holder);
  return g_test_run ();
}
