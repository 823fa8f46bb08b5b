/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/queue.h"

#define ITEM(n) GUINT_TO_POINTER (n)

static void
test_order_in_a_channel (void)
{
  g_autoptr (SbxQueue) queue = sbx_queue_new (4, 2);

  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (1)));
  g_assert_true (sbx_queue_next (queue) == ITEM (1));
  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (2)));
  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (3)));
  g_assert_false (sbx_queue_add (queue, "a:1", ITEM (4)));
  g_assert_null (sbx_queue_next (queue));
  g_assert_cmpuint (sbx_queue_n_running (queue), ==, 1);
  g_assert_cmpuint (sbx_queue_n_waiting (queue), ==, 2);
  sbx_queue_release (queue, "a:1");
  g_assert_true (sbx_queue_next (queue) == ITEM (2));
  sbx_queue_release (queue, "a:1");
  g_assert_true (sbx_queue_next (queue) == ITEM (3));
  sbx_queue_release (queue, "a:1");
  g_assert_null (sbx_queue_next (queue));
  g_assert_cmpuint (sbx_queue_n_running (queue), ==, 0);
}

static void
test_no_waiting_at_all (void)
{
  g_autoptr (SbxQueue) queue = sbx_queue_new (1, 0);

  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (1)));
  g_assert_true (sbx_queue_next (queue) == ITEM (1));
  g_assert_false (sbx_queue_add (queue, "a:1", ITEM (2)));
  sbx_queue_release (queue, "a:1");
  /* A change that is under way does not count. */
  g_assert_true (sbx_queue_add_change (queue, "a:1", ITEM (3)));
  g_assert_true (sbx_queue_next (queue) == ITEM (3));
  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (4)));
  g_assert_null (sbx_queue_next (queue));
  sbx_queue_release (queue, "a:1");
  g_assert_true (sbx_queue_next (queue) == ITEM (4));
}

static void
test_places_over_all (void)
{
  g_autoptr (SbxQueue) queue = sbx_queue_new (2, 8);

  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (1)));
  g_assert_true (sbx_queue_add (queue, "a:2", ITEM (2)));
  g_assert_true (sbx_queue_add (queue, "a:3", ITEM (3)));
  g_assert_true (sbx_queue_next (queue) == ITEM (1));
  g_assert_true (sbx_queue_next (queue) == ITEM (2));
  g_assert_null (sbx_queue_next (queue));
  sbx_queue_release (queue, "a:2");
  g_assert_true (sbx_queue_next (queue) == ITEM (3));
}

static void
test_removal (void)
{
  g_autoptr (SbxQueue) queue = sbx_queue_new (1, 8);

  g_assert_false (sbx_queue_remove (queue, "a:1", ITEM (1)));
  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (1)));
  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (2)));
  g_assert_true (sbx_queue_remove (queue, "a:1", ITEM (1)));
  g_assert_false (sbx_queue_remove (queue, "a:1", ITEM (1)));
  g_assert_true (sbx_queue_next (queue) == ITEM (2));
  /* What runs does not wait. */
  g_assert_false (sbx_queue_remove (queue, "a:1", ITEM (2)));
  sbx_queue_release (queue, "a:1");
  g_assert_null (sbx_queue_next (queue));
}

/* One channel that always has more to do, ten that ask once in a while: no quiet one waits for more than a
 * round. */
static void
test_no_channel_starves (void)
{
  g_autoptr (SbxQueue) queue = sbx_queue_new (1, 100);
  guint waited[11] = { 0 };

  for (guint i = 0; i < 100; i++)
    g_assert_true (sbx_queue_add (queue, "busy:0", ITEM (1)));
  for (guint round = 0; round < 50; round++)
    {
      guint served = 0;

      for (guint quiet = 1; quiet <= 10; quiet++)
        {
          g_autofree char *key = g_strdup_printf ("quiet:%u", quiet);

          if (waited[quiet] == 0)
            g_assert_true (sbx_queue_add (queue, key, ITEM (quiet + 1)));
        }
      served = GPOINTER_TO_UINT (sbx_queue_next (queue));
      g_assert_cmpuint (served, >, 0);
      for (guint quiet = 1; quiet <= 10; quiet++)
        {
          waited[quiet] = served == quiet + 1 ? 0 : waited[quiet] + 1;
          g_assert_cmpuint (waited[quiet], <=, 11);
        }
      {
        g_autofree char *key = served == 1 ? g_strdup ("busy:0") : g_strdup_printf ("quiet:%u", served - 1);

        sbx_queue_release (queue, key);
      }
    }
}

/* A change waits for its turn like any other, but needs no place. */
static void
test_changes (void)
{
  g_autoptr (SbxQueue) queue = sbx_queue_new (1, 2);

  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (1)));
  g_assert_true (sbx_queue_next (queue) == ITEM (1));
  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (2)));
  g_assert_true (sbx_queue_add_change (queue, "a:1", ITEM (3)));
  g_assert_true (sbx_queue_add (queue, "a:1", ITEM (4)));
  g_assert_false (sbx_queue_add (queue, "a:1", ITEM (5)));
  g_assert_null (sbx_queue_next (queue));
  g_assert_true (sbx_queue_add_change (queue, "a:2", ITEM (6)));
  g_assert_true (sbx_queue_next (queue) == ITEM (6));
  g_assert_null (sbx_queue_next (queue));
  sbx_queue_release (queue, "a:1");
  g_assert_true (sbx_queue_next (queue) == ITEM (2));
  sbx_queue_release (queue, "a:1");
  g_assert_true (sbx_queue_next (queue) == ITEM (3));
  /* Its channel's next one waits for it, but no other channel does. */
  g_assert_null (sbx_queue_next (queue));
  g_assert_cmpuint (sbx_queue_n_running (queue), ==, 0);
  g_assert_true (sbx_queue_add (queue, "a:3", ITEM (8)));
  g_assert_true (sbx_queue_next (queue) == ITEM (8));
  sbx_queue_release (queue, "a:3");
  sbx_queue_release (queue, "a:1");
  g_assert_true (sbx_queue_next (queue) == ITEM (4));
  g_assert_cmpuint (sbx_queue_n_waiting (queue), ==, 0);
  for (guint i = 0; i < SBX_QUEUE_MAX_CHANGES; i++)
    g_assert_true (sbx_queue_add_change (queue, "a:1", ITEM (7)));
  g_assert_false (sbx_queue_add_change (queue, "a:1", ITEM (7)));
  g_assert_true (sbx_queue_remove (queue, "a:1", ITEM (7)));
  g_assert_true (sbx_queue_add_change (queue, "a:1", ITEM (7)));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/queue/order-in-a-channel", test_order_in_a_channel);
  g_test_add_func ("/turn/queue/no-waiting-at-all", test_no_waiting_at_all);
  g_test_add_func ("/turn/queue/places-over-all", test_places_over_all);
  g_test_add_func ("/turn/queue/removal", test_removal);
  g_test_add_func ("/turn/queue/changes", test_changes);
  g_test_add_func ("/turn/queue/no-channel-starves", test_no_channel_starves);
  return g_test_run ();
}
