/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Random conversations hold every rule of trimming: size, order, whole groups, no more dropped than needed,
 * for good. */
#include <string.h>

#include "base/json-gate.h"
#include "conversation.h"
#include "json-in.h"

static char *
random_text (GRand *rand, int most)
{
  static const char *const pieces[] = { "a", "\"", "丁", "😀", "\n" };
  GString *text = g_string_new (NULL);

  for (int n = g_rand_int_range (rand, 0, most); n > 0; n--)
    g_string_append (text, pieces[g_rand_int_range (rand, 0, G_N_ELEMENTS (pieces))]);
  return g_string_free (text, FALSE);
}

/* A sample of them; all with ./check --all (or -m slow), which takes a minute or two. */
static guint
n_conversations (void)
{
  return g_test_slow () || g_strcmp0 (g_getenv ("ROUNDTABLE_ALL"), "yes") == 0 ? 10000 : 300;
}

/* What a request must hold, as counts of what was put in. */
typedef struct {
  guint n_history;
  guint n_groups;
  guint calls[16];     /* in each group */
  guint first_history; /* the oldest seen in the last request */
  guint first_group;
} Model;

static const char *
role_at (GVariant *messages, guint i)
{
  return sbx_json_in_text (sbx_json_in_element (messages, i), "role");
}

static void
check_request (Model *model, const GString *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) root = sbx_json_in_read (request->str, request->len, request->len, &error);
  GVariant *messages;
  guint n_history = 0;
  guint first_group = 0;
  guint at;

  g_assert_no_error (error);
  g_assert_true (sbx_json_gate (request->str, request->len, request->len, NULL));
  g_assert_cmpuint (request->len, <=, SBX_REQUEST_MAX_BYTES);
  messages = sbx_json_in_list (root, "messages");
  g_assert_cmpstr (role_at (messages, 0), ==, "system");
  /* History contents begin with their number. */
  for (at = 1; g_str_has_prefix (sbx_json_in_text (sbx_json_in_element (messages, at), "content"), "h"); at++)
    n_history++;
  g_assert_cmpuint (n_history, <=, model->n_history);
  g_assert_cmpuint (model->n_history - n_history, >=, model->first_history);
  for (guint i = 0; i < n_history; i++)
    {
      g_autofree char *number = g_strdup_printf ("h%u ", model->n_history - n_history + i);

      g_assert_true (
        g_str_has_prefix (sbx_json_in_text (sbx_json_in_element (messages, 1 + i), "content"), number));
    }
  model->first_history = model->n_history - n_history;
  g_assert_cmpstr (role_at (messages, at), ==, "user");
  at++;
  /* Whole groups, to the last one. */
  for (guint left = sbx_json_in_length (messages) - at, group = model->n_groups; left > 0; group--)
    {
      guint size = 1 + model->calls[group - 1];

      g_assert_cmpuint (group, >, 0);
      g_assert_cmpuint (left, >=, size);
      left -= size;
      g_assert_cmpstr (role_at (messages, at + left), ==, "assistant");
      for (guint i = 1; i < size; i++)
        g_assert_cmpstr (role_at (messages, at + left + i), ==, "tool");
      first_group = group - 1;
      if (left == 0)
        break;
    }
  if (sbx_json_in_length (messages) == at)
    first_group = model->n_groups;
  g_assert_cmpuint (first_group, >=, model->first_group);
  /* Groups go only when no history is left. */
  g_assert_true (first_group == 0 || n_history == 0);
  model->first_group = first_group;
}

static void
add_group (SbxConversation *conversation, Model *model, GRand *rand)
{
  guint calls = (guint) g_rand_int_range (rand, 1, 9);

  sbx_conversation_begin_group (conversation, "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[]}");
  for (guint i = 0; i < calls; i++)
    {
      g_autofree char *result = random_text (rand, 6000);

      sbx_conversation_add_result (conversation, "id", result);
    }
  model->calls[model->n_groups++] = calls;
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261129);

  for (guint n = 0; n < n_conversations (); n++)
    {
      /* Every tenth goes on for as long as a turn may, so that whole groups have to go. */
      guint n_steps = n % 10 == 0 ? 12 : (guint) g_rand_int_range (rand, 1, 4);
      g_autofree char *system = random_text (rand, 8000);
      g_autofree char *user = random_text (rand, 60000);
      g_autoptr (SbxConversation) conversation = sbx_conversation_new ("m", "[]", system, user);
      Model model = { .n_history = (guint) g_rand_int_range (rand, 0, 21) };

      for (guint i = 0; i < model.n_history; i++)
        {
          g_autofree char *text = random_text (rand, 9000);
          g_autofree char *content = g_strdup_printf ("h%u %s", i, text);

          sbx_conversation_add_history (conversation, i % 2 == 0 ? "user" : "assistant", content);
        }
      for (guint step = 0; step < n_steps; step++)
        {
          g_autoptr (GString) request = sbx_conversation_request (conversation);

          g_assert_nonnull (request);
          check_request (&model, request);
          add_group (conversation, &model, rand);
        }
    }
}

/* A limit that is reached by number: no more goes than must. */
static void
test_drops_no_more_than_needed (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autofree char *filler = g_strnfill (8100, 'x');

  for (guint i = 0; i < n_conversations () / 10; i++)
    {
      g_autofree char *user = g_strnfill ((gsize) g_rand_int_range (rand, 0, 49000), 'u');
      g_autoptr (SbxConversation) conversation = sbx_conversation_new ("m", "[]", "s", user);
      guint n = (guint) g_rand_int_range (rand, 16, 26);
      g_autoptr (GString) request = NULL;
      gsize each = strlen (filler) + strlen (",{\"role\":\"user\",\"content\":\"\"}");
      gsize fixed;
      guint fits;

      {
        g_autoptr (GString) bare = sbx_conversation_request (conversation);

        fixed = bare->len;
      }
      for (guint k = 0; k < n; k++)
        sbx_conversation_add_history (conversation, "user", filler);
      fits = MIN (n, (guint) ((SBX_REQUEST_MAX_BYTES - fixed) / each));
      g_assert_cmpuint (sbx_conversation_n_dropped (conversation), ==, n - fits);
      request = sbx_conversation_request (conversation);
      g_assert_cmpuint (request->len, ==, fixed + fits * each);
      g_assert_cmpuint (sbx_conversation_n_dropped (conversation), ==, 0);
    }
}

static void
test_gives_up_when_nothing_is_left (void)
{
  g_autofree char *tools = g_strnfill (SBX_REQUEST_MAX_BYTES, ' ');
  g_autoptr (SbxConversation) conversation = sbx_conversation_new ("m", tools, "s", "u");

  sbx_conversation_add_history (conversation, "user", "old");
  g_assert_null (sbx_conversation_request (conversation));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/worker/conversation/random", test_random);
  g_test_add_func ("/worker/conversation/no-more-than-needed", test_drops_no_more_than_needed);
  g_test_add_func ("/worker/conversation/gives-up", test_gives_up_when_nothing_is_left);
  return g_test_run ();
}
