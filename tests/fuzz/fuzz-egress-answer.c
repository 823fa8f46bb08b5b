/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What an endpoint sent, on its way to a guest: what is let through is JSON by the gate, and no text or
 * member name in it holds a form of the live key. */
#include "fuzz.h"

#include <string.h>

#include "base/json-tree.h"
#include "egress/answer.h"
#include "wire/bounds.h"

/* Long enough to be a key, short enough for the fuzzer to make its forms. */
static const char key[] = "sk-7";
static const char *const forms[] = { "sk-7", "c2stNw==", "c2stNw", "736b2d37", "736B2D37" };

static gboolean
text_holds_key (const char *text)
{
  for (gsize i = 0; i < G_N_ELEMENTS (forms); i++)
    if (strstr (text, forms[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* By recursion, unlike the code under test; the gate has bounded the depth. Texts are looked at and not the
 * written bytes, where a form may come about by chance from an escape and what follows it. */
static gboolean
node_holds_key (JsonNode *node)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return text_holds_key (json_node_get_string (node));
  if (JSON_NODE_HOLDS_ARRAY (node))
    for (guint i = 0; i < json_array_get_length (json_node_get_array (node)); i++)
      if (node_holds_key (json_array_get_element (json_node_get_array (node), i)))
        return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return FALSE;
  json_object_iter_init_ordered (&iter, json_node_get_object (node));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    if (text_holds_key (name) || node_holds_key (value))
      return TRUE;
  return FALSE;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_autoptr (SbxReflection) reflection = sbx_reflection_new ();
  g_autoptr (SbxSecret) secret = sbx_secret_new (key, strlen (key));
  g_autoptr (JsonNode) root = NULL;
  SbxAnswer answer = { 0 };
  SbxFailure failure;

  sbx_reflection_add (reflection, secret);
  (void) sbx_reflection_finds_in_text (reflection, (const char *) data, n_bytes);
  failure = sbx_answer_read ((const char *) data, n_bytes, reflection, &answer);
  if (failure != SBX_FAILURE_NONE)
    {
      g_assert (failure == SBX_FAILURE_MODEL_ANSWER || failure == SBX_FAILURE_KEY_REFLECTED);
      g_assert (answer.json == NULL);
      return 0;
    }
  g_assert (g_bytes_get_size (answer.json) <= SBX_MAX_ANSWER_BYTES);
  root = sbx_json_read (g_bytes_get_data (answer.json, NULL), g_bytes_get_size (answer.json),
                        SBX_MAX_ANSWER_BYTES, NULL);
  g_assert (root != NULL);
  g_assert (!node_holds_key (root));
  g_bytes_unref (answer.json);
  return 0;
}
