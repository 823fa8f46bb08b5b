/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The policy of prepared turns, as stories: what happens, and what the pool then wants or has to give. */
#include "turn/prepared-pool.h"

#include <string.h>

#define SECOND ((gint64) G_USEC_PER_SEC)
#define IDLE   (600 * SECOND)

/* One line of a story: "sec verb channel". The pool is asked when the turns have rested. Verbs:
 *   used C      a turn of C ended           begun C     one began
 *   forget C    C is off                    failed C    an item of C failed
 *   take C      its oldest item is used     make C      C is what is wanted now, and an item is made
 *   none        nothing is wanted now       drop C/WHY  an item of C is surplus, for that reason
 *   keep        nothing is surplus          next N      time alone changes something at second N (-1: never)
 */
typedef struct {
  const char *name;
  guint total;
  guint per_channel;
  const char *lines[24];
} Story;

static const Story stories[] = {
  { "used-once",
    4,
    1,
    { "0 none", "0 used a:1", "0 make a:1", "0 none", "5 begun a:1", "5 take a:1", "5 none", "9 used a:1",
      "9 make a:1", "9 keep", "9 none" } },
  { "off", 0, 1, { "0 used a:1", "0 none", "0 next -1" } },
  { "idle",
    4,
    1,
    { "0 used a:1", "0 make a:1", "0 next 600", "599 keep", "600 drop a:1/idle", "600 keep", "600 none",
      "600 next -1" } },
  { "least-recently-used",
    2,
    1,
    { "0 used a:1", "0 make a:1", "1 used b:1", "1 make b:1", "2 used c:1", "2 drop a:1/others-in-use",
      "2 make c:1", "2 none", "3 used a:1", "3 drop b:1/others-in-use", "3 make a:1", "3 keep", "3 none" } },
  /* What the others leave goes to those before. */
  { "room-again",
    1,
    1,
    { "0 used a:1", "0 make a:1", "300 used b:1", "300 drop a:1/others-in-use", "300 make b:1",
      "301 forget b:1", "301 drop b:1/not-in-use", "301 make a:1", "301 none" } },
  { "room-by-time",
    1,
    1,
    { "0 used a:1", "0 make a:1", "1 used b:1", "1 drop a:1/others-in-use", "1 make b:1", "1 next 600",
      "600 keep", "601 drop b:1/idle", "601 none" } },
  { "two-each",
    3,
    2,
    { "0 used a:1", "0 make a:1", "0 make a:1", "0 none", "1 used b:1", "1 drop a:1/others-in-use",
      "1 make b:1", "1 make b:1", "1 none", "2 begun b:1", "2 take b:1", "2 none", "3 used b:1", "3 make b:1",
      "3 keep", "3 none" } },
  { "forgotten",
    4,
    1,
    { "0 used a:1", "0 make a:1", "1 forget a:1", "1 drop a:1/not-in-use", "1 none", "2 used a:1",
      "2 make a:1", "2 none" } },
  /* A growing pause, then no more before its next turn. */
  { "failures",
    4,
    1,
    { "0 used a:1", "0 make a:1", "0 failed a:1", "0 none", "0 next 1", "1 make a:1", "1 failed a:1",
      "2 none", "3 make a:1", "3 failed a:1", "6 none", "7 make a:1", "7 failed a:1", "15 make a:1",
      "15 failed a:1", "500 none", "500 next 600", "501 used a:1", "501 make a:1" } },
  /* One that runs keeps its share, and none is made for it meanwhile. */
  { "running",
    1,
    1,
    { "0 used a:1", "0 make a:1", "1 used b:1", "1 drop a:1/others-in-use", "1 make b:1", "2 begun b:1",
      "2 take b:1", "2 none", "3 used b:1", "3 make b:1", "3 none" } },
};

typedef struct {
  SbxPreparedPool *pool;
  GPtrArray *items; /* of their channels' names; each an item */
} Run;

static void
take_item (Run *run, const char *channel)
{
  gpointer item = sbx_prepared_pool_oldest (run->pool, channel);

  g_assert_nonnull (item);
  g_assert_true (sbx_prepared_pool_remove (run->pool, item));
}

static void
check_wanted (Run *run, const char *channel, gint64 now)
{
  const char *wanted = sbx_prepared_pool_wanted (run->pool, now);
  char *item;

  g_assert_cmpstr (wanted, ==, channel);
  if (channel == NULL)
    return;
  item = g_strdup (channel);
  g_ptr_array_add (run->items, item);
  sbx_prepared_pool_add (run->pool, channel, item);
}

static void
check_surplus (Run *run, const char *expected, gint64 now)
{
  const char *why = NULL;
  const char *item = sbx_prepared_pool_surplus (run->pool, now, &why);
  g_autofree char *found = item != NULL ? g_strconcat (item, "/", why, NULL) : NULL;

  g_assert_cmpstr (found, ==, expected);
  if (item != NULL)
    g_assert_true (sbx_prepared_pool_remove (run->pool, (gpointer) item));
}

static void
test_story (gconstpointer data)
{
  const Story *story = data;
  g_autoptr (SbxPreparedPool) pool = sbx_prepared_pool_new (story->total, story->per_channel, IDLE);
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_free);
  Run run = { pool, items };

  for (gsize i = 0; story->lines[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (story->lines[i], " ", 3);
      gint64 now = g_ascii_strtoll (words[0], NULL, 10) * SECOND;
      gint64 rested = now + SBX_PREPARED_REST_USEC;
      const char *verb = words[1], *what = words[2];

      g_test_message ("%s", story->lines[i]);
      if (g_str_equal (verb, "used"))
        sbx_prepared_pool_used (pool, what, now);
      else if (g_str_equal (verb, "begun"))
        sbx_prepared_pool_begun (pool, what, now);
      else if (g_str_equal (verb, "forget"))
        sbx_prepared_pool_forget (pool, what);
      else if (g_str_equal (verb, "take"))
        take_item (&run, what);
      else if (g_str_equal (verb, "failed"))
        {
          take_item (&run, what);
          sbx_prepared_pool_failed (pool, what, now);
        }
      else if (g_str_equal (verb, "make") || g_str_equal (verb, "none"))
        check_wanted (&run, what, rested);
      else if (g_str_equal (verb, "drop") || g_str_equal (verb, "keep"))
        check_surplus (&run, what, rested);
      else if (g_str_equal (verb, "next"))
        {
          gint64 next = sbx_prepared_pool_next_usec (pool, rested);

          g_assert_cmpint (next < 0 ? next : next / SECOND, ==, g_ascii_strtoll (what, NULL, 10));
        }
      else
        g_assert_not_reached ();
    }
}

/* However many channels there are, few are remembered. */
static void
test_many (void)
{
  g_autoptr (SbxPreparedPool) pool = sbx_prepared_pool_new (4, 1, IDLE);
  guint n = 0;

  for (guint i = 0; i < 2 * SBX_PREPARED_MAX_CHANNELS; i++)
    {
      g_autofree char *channel = g_strdup_printf ("a:%u", i);

      sbx_prepared_pool_used (pool, channel, i);
    }
  for (guint i = 2 * SBX_PREPARED_MAX_CHANNELS; i > 0; i--)
    {
      g_autofree char *channel = g_strdup_printf ("a:%u", i - 1);

      if (sbx_prepared_pool_wanted (pool, SECOND) == NULL)
        break;
      g_assert_cmpstr (sbx_prepared_pool_wanted (pool, SECOND), ==, channel);
      sbx_prepared_pool_add (pool, channel, GUINT_TO_POINTER (i));
      n++;
    }
  g_assert_cmpuint (n, ==, 4);
}

/* While turns come one upon the other nothing is made beside them, but not for ever. */
static void
test_rest (void)
{
  const gint64 rest = SBX_PREPARED_REST_USEC, most = SBX_PREPARED_MAX_REST_USEC;
  g_autoptr (SbxPreparedPool) pool = sbx_prepared_pool_new (4, 1, IDLE);
  gint64 now = SECOND;

  sbx_prepared_pool_used (pool, "a:1", now);
  g_assert_null (sbx_prepared_pool_wanted (pool, now));
  g_assert_cmpint (sbx_prepared_pool_next_usec (pool, now), ==, now + rest);
  g_assert_null (sbx_prepared_pool_wanted (pool, now + rest - 1));
  g_assert_cmpstr (sbx_prepared_pool_wanted (pool, now + rest), ==, "a:1");

  /* Of a channel that has none prepared, too. */
  sbx_prepared_pool_begun (pool, "b:1", now + rest / 2);
  g_assert_null (sbx_prepared_pool_wanted (pool, now + rest));
  g_assert_cmpint (sbx_prepared_pool_next_usec (pool, now + rest), ==, now + rest + rest / 2);

  for (gint64 at = now + rest; at < now + most; at += rest / 2)
    sbx_prepared_pool_begun (pool, "b:1", at);
  g_assert_null (sbx_prepared_pool_wanted (pool, now + most - 1));
  g_assert_cmpint (sbx_prepared_pool_next_usec (pool, now + most - 1), ==, now + most);
  g_assert_cmpstr (sbx_prepared_pool_wanted (pool, now + most), ==, "a:1");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (stories); i++)
    {
      g_autofree char *name = g_strconcat ("/turn/prepared-pool/", stories[i].name, NULL);

      g_test_add_data_func (name, &stories[i], test_story);
    }
  g_test_add_func ("/turn/prepared-pool/many", test_many);
  g_test_add_func ("/turn/prepared-pool/rest", test_rest);
  return g_test_run ();
}
