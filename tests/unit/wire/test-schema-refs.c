/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/schema-refs.h"

#include <string.h>

#include "base/json-tree.h"

static gboolean
is_local (const char *schema)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) root = sbx_json_read (schema, strlen (schema), 1024 * 1024, &error);

  g_assert_no_error (error);
  return sbx_schema_is_local (root);
}

/* Where a schema may stand: a remote reference is found there, a local one is let through. */
static const char *const places[] = {
  "%s",
  "{\"properties\":{\"p\":%s}}",
  "{\"properties\":{\"a\":true,\"p\":%s}}",
  "{\"properties\":{\"__proto__\":%s}}",
  "{\"patternProperties\":{\"^a\":%s}}",
  "{\"$defs\":{\"p\":%s}}",
  "{\"definitions\":{\"p\":%s}}",
  "{\"dependentSchemas\":{\"p\":%s}}",
  "{\"items\":%s}",
  "{\"items\":[true,%s]}",
  "{\"contains\":%s}",
  "{\"additionalProperties\":%s}",
  "{\"additionalProperties\":[true,%s]}",
  "{\"unevaluatedProperties\":%s}",
  "{\"unevaluatedItems\":%s}",
  "{\"unevaluatedItems\":[%s]}",
  "{\"propertyNames\":%s}",
  "{\"not\":%s}",
  "{\"if\":%s}",
  "{\"then\":%s}",
  "{\"then\":[true,%s]}",
  "{\"else\":%s}",
  "{\"contentSchema\":%s}",
  "{\"additionalItems\":%s}",
  "{\"allOf\":[{},%s]}",
  "{\"anyOf\":[%s,{}]}",
  "{\"oneOf\":[%s]}",
  "{\"prefixItems\":[%s]}",
  "{\"dependencies\":{\"p\":%s}}",
  "{\"properties\":{\"a\":{\"items\":[{\"anyOf\":[{\"not\":{\"$defs\":{\"z\":{\"if\":%s}}}}]}]}}}",
};

static const char *const remote[] = {
  "{\"$ref\":\"https://elsewhere.example/schema\"}",
  "{\"$dynamicRef\":\"https://elsewhere.example/schema\"}",
  "{\"$recursiveRef\":\"https://elsewhere.example/schema\"}",
  "{\"$schema\":\"https://elsewhere.example/schema\"}",
  "{\"$id\":\"https://elsewhere.example/schema\"}",
  "{\"$vocabulary\":{\"https://elsewhere.example/schema\":true}}",
  "{\"type\":\"object\",\"$r\\u0065f\":\"https://elsewhere.example/schema\"}",
  "null",
  "1",
  "\"#\"",
};

static const char *const local[] = {
  "{\"$ref\":\"#/$defs/a\"}",
  "{\"$ref\":\"#\",\"$id\":\"#a\",\"$schema\":\"#s\",\"$dynamicRef\":\"#d\",\"$recursiveRef\":\"#\"}",
  "{\"$vocabulary\":{\"#a\":true,\"#b\":false}}",
  "{\"$ref\\u0000\":\"https://elsewhere.example/schema\"}", /* another name, so data */
  "true",
  "false",
  "{}",
};

/* text with its one "%s" replaced. */
static char *
put_into (const char *place, const char *schema)
{
  const char *gap = strstr (place, "%s");

  return g_strdup_printf ("%.*s%s%s", (int) (gap - place), place, schema, gap + 2);
}

static void
check_all_places (const char *const *schemas, gsize n_schemas, gboolean expected)
{
  for (gsize i = 0; i < n_schemas; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (places); j++)
      {
        g_autofree char *whole = put_into (places[j], schemas[i]);

        if (is_local (whole) != expected)
          g_error ("wrong verdict on %s", whole);
      }
}

static void
test_remote_everywhere (void)
{
  check_all_places (remote, G_N_ELEMENTS (remote), FALSE);
}

static void
test_local_everywhere (void)
{
  check_all_places (local, G_N_ELEMENTS (local), TRUE);
}

static void
test_values (void)
{
  static const struct {
    const char *schema;
    gboolean fine;
  } cases[] = {
    { "{\"$ref\":\"\"}", FALSE },
    { "{\"$ref\":\" #/x\"}", FALSE },
    { "{\"$ref\":\"common.json#/x\"}", FALSE },
    { "{\"$ref\":\"file:///etc/passwd\"}", FALSE },
    { "{\"$ref\":\"urn:x\"}", FALSE },
    { "{\"$ref\":\"//elsewhere.example/x\"}", FALSE },
    { "{\"$ref\":null}", FALSE },
    { "{\"$ref\":1}", FALSE },
    { "{\"$ref\":true}", FALSE },
    { "{\"$ref\":{}}", FALSE },
    { "{\"$schema\":[\"#\"]}", FALSE },
    { "{\"$vocabulary\":{}}", TRUE },
    { "{\"$vocabulary\":[]}", FALSE },
    { "{\"$vocabulary\":\"#\"}", FALSE },
    { "{\"$vocabulary\":null}", FALSE },
    { "{\"$vocabulary\":{\"#a\":true,\"b\":true}}", FALSE },
    { "{\"properties\":null}", FALSE },
    { "{\"properties\":[]}", FALSE },
    { "{\"properties\":true}", FALSE },
    { "{\"properties\":{\"a\":[]}}", FALSE },
    { "{\"items\":null}", FALSE },
    { "{\"items\":[[]]}", FALSE },
    { "{\"items\":[]}", TRUE },
    { "{\"allOf\":{}}", FALSE },
    { "{\"allOf\":true}", FALSE },
    { "{\"allOf\":[null]}", FALSE },
    { "{\"allOf\":[]}", TRUE },
    { "{\"dependencies\":null}", TRUE },
    { "{\"dependencies\":[{\"$ref\":\"x\"}]}", TRUE },
    { "{\"dependencies\":{\"a\":[{\"$ref\":\"x\"}]}}", TRUE },
    { "{\"dependencies\":{\"a\":\"b\"}}", FALSE },
    { "[]", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    if (is_local (cases[i].schema) != cases[i].fine)
      g_error ("wrong verdict on %s", cases[i].schema);
}

/* What is data is not looked into. */
static void
test_data (void)
{
  static const char *const cases[] = {
    "{\"enum\":[{\"$ref\":\"https://elsewhere.example\"}]}",
    "{\"const\":{\"$ref\":\"https://elsewhere.example\"}}",
    "{\"default\":{\"$id\":\"https://elsewhere.example\"}}",
    "{\"examples\":[{\"$ref\":\"https://elsewhere.example\"}]}",
    "{\"$comment\":\"https://elsewhere.example\",\"$anchor\":\"a\",\"title\":\"https://elsewhere.example\"}",
    "{\"dependentRequired\":{\"a\":[{\"$ref\":\"https://elsewhere.example\"}]}}",
    "{\"properties\":{\"$ref\":{\"type\":\"string\"}}}",
    "{\"Ref\":\"https://elsewhere.example\",\"$Ref\":\"https://elsewhere.example\"}",
    "{\"x-own\":{\"properties\":null}}",
    "{\"type\":null}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    if (!is_local (cases[i]))
      g_error ("wrong verdict on %s", cases[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/schema-refs/remote-everywhere", test_remote_everywhere);
  g_test_add_func ("/schema-refs/local-everywhere", test_local_everywhere);
  g_test_add_func ("/schema-refs/values", test_values);
  g_test_add_func ("/schema-refs/data", test_data);
  return g_test_run ();
}
